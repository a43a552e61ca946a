#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"

namespace nodescope::perf {

// The content of COMPRESSED records: one zstd stream that is cut into records, so each continues the one
// before.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();

  // Calls take(std::span<const std::byte>) with what `compressed` unfolds to, in pieces, until it returns
  // false.  A piece is valid only during the call.  After an error the stream is lost.
  template <typename Take>
  Result<void> decompress(std::span<const std::byte> compressed, Take take) {
    begin(compressed);
    for (;;) {
      const auto piece = next();
      if (!piece) return std::unexpected(piece.error());
      if (piece->empty() || !take(*piece)) return {};
    }
  }

 private:
  struct State;

  void begin(std::span<const std::byte> compressed);
  Result<std::span<const std::byte>> next();

  std::unique_ptr<State> state_;
};

}  // namespace nodescope::perf
