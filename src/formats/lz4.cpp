#include "formats/lz4.h"

#include <fmt/format.h>

#include "base/check.h"

namespace nodescope {

Lz4Source::Lz4Source(std::unique_ptr<ByteSource> compressed, Diagnostics& damage)
    : input_(std::move(compressed)), damage_(damage) {
  LZ4F_dctx* context = nullptr;
  NODESCOPE_CHECK(LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) == 0);
  context_.reset(context);
}

// LZ4 cannot shrink anything to less than a 255th: no limit on what it unpacks to is needed.
Result<std::size_t> Lz4Source::read(std::span<std::byte> into) {
  std::size_t produced = 0;
  while (produced < into.size() && !ended_) {
    if (produced > 0 && input_.waiting() == 0) break;
    const auto from = input_.fill();
    if (!from) return std::unexpected(from.error());
    if (from->empty()) {
      if (in_frame_) end_with_damage("compressed content is cut short");
      ended_ = true;
      break;
    }
    std::size_t given = into.size() - produced;
    std::size_t used = from->size();
    const std::size_t status =
        LZ4F_decompress(context_.get(), into.data() + produced, &given, from->data(), &used, nullptr);
    if (LZ4F_isError(status) != 0) {
      const bool is_trailing = any_frame_ && !in_frame_;
      end_with_damage(
          is_trailing ? "bytes after the compressed content are ignored" : "compressed content is damaged",
          LZ4F_getErrorName(status));
      break;
    }
    input_.consume(used);
    produced += given;
    in_frame_ = status != 0;
    any_frame_ = any_frame_ || !in_frame_;
  }
  return produced;
}

void Lz4Source::end_with_damage(std::string_view what, std::string_view detail) {
  const bool is_trailing = any_frame_ && !in_frame_;
  std::string where = fmt::format("{}: byte {} of the lz4 stream", name(), input_.offset());
  if (!detail.empty()) where.append(": ").append(detail);
  damage_.add(is_trailing ? Severity::kWarning : Severity::kError, what, where);
  ended_ = true;
}

}  // namespace nodescope
