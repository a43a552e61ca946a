#include "formats/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "formats/compression.h"
#include "formats/format.h"
#include "formats/lz4.h"

namespace nodescope {

namespace {

// Once by the tool that wrote the file (pprof, DevTools), once by whoever stored it.
constexpr int kMaxLayers = 2;

std::unique_ptr<ByteSource> decompress(Compression compression, std::unique_ptr<ByteSource> source,
                                       Diagnostics& damage) {
  if (compression == Compression::kGzip) return std::make_unique<GzipSource>(std::move(source), damage);
  if (compression == Compression::kLz4) return std::make_unique<Lz4Source>(std::move(source), damage);
  return std::make_unique<ZstdSource>(std::move(source), damage);
}

}  // namespace

Result<std::unique_ptr<PeekableSource>> PeekableSource::open(std::unique_ptr<ByteSource> source) {
  std::unique_ptr<PeekableSource> peekable(new PeekableSource(std::move(source)));
  if (auto peeked = peekable->peek(); !peeked) return std::unexpected(std::move(peeked.error()));
  return peekable;
}

Result<void> PeekableSource::peek() {
  if (const auto bytes = source_->mapped()) {
    head_ = as_text(bytes->first(std::min(bytes->size(), kHeadBytes)));
    return {};
  }
  storage_.resize(kHeadBytes);
  std::size_t filled = 0;
  while (filled < kHeadBytes) {
    const auto count = source_->read(std::as_writable_bytes(std::span(storage_).subspan(filled)));
    if (!count) return std::unexpected(count.error());
    if (*count == 0) break;
    filled += *count;
  }
  storage_.resize(filled);
  head_ = unread_ = storage_;
  return {};
}

Result<std::size_t> PeekableSource::read(std::span<std::byte> into) {
  if (unread_.empty()) return source_->read(into);
  const std::size_t count = std::min(into.size(), unread_.size());
  std::memcpy(into.data(), unread_.data(), count);
  unread_.remove_prefix(count);
  return count;
}

Result<std::unique_ptr<PeekableSource>> open_content(std::unique_ptr<ByteSource> source) {
  auto damage = std::make_unique<Diagnostics>();
  for (int layer = 0;; ++layer) {
    auto peekable = PeekableSource::open(std::move(source));
    if (!peekable) return peekable;
    const std::string_view head = (*peekable)->head();
    const Compression compression = compression_of(head);
    if (head.empty() && damage->has(Severity::kWarning)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("nothing could be decompressed: {}", damage->entries().front().example));
    }
    if (compression == Compression::kNone) {
      (*peekable)->damage_ = std::move(damage);
      return peekable;
    }
    if (layer == kMaxLayers) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: compressed more than {} times over", (*peekable)->name(), kMaxLayers));
    }
    source = decompress(compression, std::move(*peekable), *damage);
  }
}

}  // namespace nodescope
