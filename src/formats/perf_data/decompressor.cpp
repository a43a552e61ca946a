#include "formats/perf_data/decompressor.h"

#include <fmt/format.h>
#include <zstd.h>

#include <vector>

namespace nodescope::perf {

namespace {
constexpr std::size_t kPieceBytes = 1 << 20;
}

struct Decompressor::State {
  ZSTD_DStream* stream = ZSTD_createDStream();
  ZSTD_inBuffer input{};
  std::vector<std::byte> output;
  bool output_was_full = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ZSTD_freeDStream(stream); }
};

Decompressor::Decompressor() = default;
Decompressor::~Decompressor() = default;

void Decompressor::begin(std::span<const std::byte> compressed) {
  if (!state_) {
    state_ = std::make_unique<State>();
    state_->output.resize(kPieceBytes);
  }
  state_->input = {compressed.data(), compressed.size(), 0};
  state_->output_was_full = false;
}

Result<std::span<const std::byte>> Decompressor::next() {
  State& state = *state_;
  if (state.stream == nullptr) return fail(ErrorCode::kSystem, "no memory for zstd");
  ZSTD_outBuffer output{state.output.data(), state.output.size(), 0};
  // zstd may hold back what did not fit into the output, also when it has read all of the input.
  while (output.pos == 0 && (state.input.pos < state.input.size || state.output_was_full)) {
    const std::size_t before = state.input.pos;
    const std::size_t result = ZSTD_decompressStream(state.stream, &output, &state.input);
    if (ZSTD_isError(result) != 0) {
      return fail(ErrorCode::kInvalidInput, fmt::format("zstd: {}", ZSTD_getErrorName(result)));
    }
    state.output_was_full = output.pos == output.size;
    if (output.pos == 0 && state.input.pos == before) break;
  }
  return std::span<const std::byte>(state.output).first(output.pos);
}

}  // namespace nodescope::perf
