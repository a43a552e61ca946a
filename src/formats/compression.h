#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"
#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/result.h"

namespace nodescope {

enum class Compression : std::uint8_t { kNone, kGzip, kZstd, kLz4 };

// By the first four bytes.
Compression compression_of(std::string_view head);

// The compressed bytes of a decompressor: what was read from below and not used yet.
class CompressedInput {
 public:
  explicit CompressedInput(std::unique_ptr<ByteSource> source);

  // Bytes that wait; reads more only when there are none.  Empty at the end.
  Result<std::span<const std::byte>> fill();
  void consume(std::size_t count);

  std::size_t waiting() const { return end_ - begin_; }
  // How many bytes of the compressed content were used, for messages.
  std::uint64_t offset() const { return offset_; }
  std::string_view name() const { return source_->name(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
};

// Decompressors give content as it is asked for, so a file that would unpack to terabytes costs only its
// window.  A stream that is cut or damaged ends early: the bytes before the damage are given, then the end,
// and `damage` gets an entry.  So every reader sees a shortened file, which it survives anyway.  Only a
// failure to read the compressed bytes is an Error.  `damage` must outlive the source.

// Any number of members, as `gzip` itself reads them: zeros after the last are padding, anything else is
// ignored.
class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> compressed, Diagnostics& damage);
  ~GzipSource() override;
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<std::size_t> read(std::span<std::byte> into) override;
  std::string_view name() const override { return input_.name(); }

 private:
  enum class State : std::uint8_t { kBetweenMembers, kInMember, kEnd };

  Result<void> start_member();
  void inflate_into(std::span<std::byte> into, std::span<const std::byte> from);
  void end_with_damage(std::string_view what, std::string_view detail = {});

  CompressedInput input_;
  Diagnostics& damage_;
  z_stream stream_{};
  State state_ = State::kBetweenMembers;
  bool any_member_ = false;
  std::size_t produced_ = 0;
};

// Any number of frames, skippable ones included.  A frame that needs a window of more than 128 MB is refused.
class ZstdSource final : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> compressed, Diagnostics& damage);

  Result<std::size_t> read(std::span<std::byte> into) override;
  std::string_view name() const override { return input_.name(); }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };

  void end_with_damage(std::string_view what, std::string_view detail = {});

  CompressedInput input_;
  Diagnostics& damage_;
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::uint64_t given_ = 0;
  bool in_frame_ = false;
  bool any_frame_ = false;
  bool ended_ = false;
};

// Compresses what is written to it.  The output is the same for the same bytes: it names no file and no time.
class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(ByteSink& out);
  ~GzipSink() override;
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;

  Result<void> write(std::string_view bytes) override;
  // Without it the output is cut.
  Result<void> finish();

 private:
  Result<void> deflate_all(int flush);

  ByteSink& out_;
  z_stream stream_{};
  std::vector<char> buffer_;
};

}  // namespace nodescope
