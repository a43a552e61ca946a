#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/result.h"

namespace nodescope {

// A source whose beginning can be looked at before it is read.  What the source below can do stays possible:
// size, reading at an offset, the mapping.
class PeekableSource final : public ByteSource {
 public:
  static Result<std::unique_ptr<PeekableSource>> open(std::unique_ptr<ByteSource> source);

  // The first kHeadBytes (formats/format.h), or all when there are fewer.
  std::string_view head() const { return head_; }
  // What decompressors have met so far; complete once the content was read to its end.
  const Diagnostics& damage() const { return *damage_; }

  Result<std::size_t> read(std::span<std::byte> into) override;
  std::optional<std::uint64_t> size() const override { return source_->size(); }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    return source_->read_at(offset, into);
  }
  std::optional<std::span<const std::byte>> mapped() override { return source_->mapped(); }
  void release_pages() override { source_->release_pages(); }
  std::string_view name() const override { return source_->name(); }

 private:
  friend Result<std::unique_ptr<PeekableSource>> open_content(std::unique_ptr<ByteSource> source);

  explicit PeekableSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  Result<void> peek();

  // Before source_: the decompressors inside of it write there.
  std::unique_ptr<Diagnostics> damage_ = std::make_unique<Diagnostics>();
  std::unique_ptr<ByteSource> source_;
  std::string storage_;        // the head where it had to be read from the source
  std::string_view head_;      // into storage_ or the mapping
  std::string_view unread_{};  // the part of storage_ that read() has not given yet
};

// `source` with gzip, zstd and lz4 undone, also one inside the other.  Nothing is undone twice over: a third
// layer is an error.  Compressed content of which not one byte could be had is an error too.
Result<std::unique_ptr<PeekableSource>> open_content(std::unique_ptr<ByteSource> source);

}  // namespace nodescope
