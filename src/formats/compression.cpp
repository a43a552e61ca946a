#include "formats/compression.h"

#include <fmt/format.h>
#include <zstd_errors.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace nodescope {

namespace {

constexpr std::size_t kBufferBytes = 128 * 1024;
constexpr int kMaxZstdWindowLog = 27;     // 128 MB: what `zstd -d` accepts unless told otherwise
constexpr int kGzipWindowBits = 15 + 16;  // zlib: the largest window, with a gzip header
constexpr int kGzipMemoryLevel = 8;       // zlib's default

// Text of profiles shrinks to a hundredth at most.  Content that unpacks to more than this much and this many
// times its size is made to fill memory; gzip cannot shrink anything further.
constexpr std::uint64_t kMaxFreeBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxRatio = 1100;
constexpr std::string_view kUnpacksTooFar = "compressed content unpacks to more than 1,100 times its size";

constexpr std::string_view kCutShort = "compressed content is cut short";
constexpr std::string_view kDamaged = "compressed content is damaged";
constexpr std::string_view kTrailing = "bytes after the compressed content are ignored";

uInt to_zlib_size(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

// zlib does not write through next_in, but its type says that it might.
Bytef* to_zlib_input(const void* bytes) {
  return static_cast<Bytef*>(const_cast<void*>(bytes));
}

// `detail` is the library's own word for it, if it has one.
void add_damage(Diagnostics& damage, std::string_view what, std::string where, std::string_view detail) {
  if (!detail.empty()) where.append(": ").append(detail);
  damage.add(what == kTrailing ? Severity::kWarning : Severity::kError, what, where);
}

}  // namespace

Compression compression_of(std::string_view head) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(head[i]); };
  if (head.size() < 4) return Compression::kNone;
  if (head.starts_with("\x1F\x8B\x08")) return Compression::kGzip;
  if (head.starts_with("\x28\xB5\x2F\xFD")) return Compression::kZstd;
  if (head.starts_with("\x04\x22\x4D\x18")) return Compression::kLz4;
  // A skippable frame, which pzstd writes first.
  if ((byte(0) & 0xF0u) == 0x50 && head.substr(1, 3) == "\x2A\x4D\x18") return Compression::kZstd;
  return Compression::kNone;
}

CompressedInput::CompressedInput(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(kBufferBytes) {}

Result<std::span<const std::byte>> CompressedInput::fill() {
  if (begin_ == end_) {
    const auto count = source_->read(buffer_);
    if (!count) return std::unexpected(count.error());
    begin_ = 0;
    end_ = *count;
  }
  return std::span(buffer_).subspan(begin_, end_ - begin_);
}

void CompressedInput::consume(std::size_t count) {
  NODESCOPE_CHECK(count <= waiting());
  begin_ += count;
  offset_ += count;
}

GzipSource::GzipSource(std::unique_ptr<ByteSource> compressed, Diagnostics& damage)
    : input_(std::move(compressed)), damage_(damage) {
  NODESCOPE_CHECK(inflateInit2(&stream_, kGzipWindowBits) == Z_OK);
}

GzipSource::~GzipSource() {
  inflateEnd(&stream_);
}

Result<std::size_t> GzipSource::read(std::span<std::byte> into) {
  produced_ = 0;
  while (produced_ < into.size() && state_ != State::kEnd) {
    if (state_ == State::kBetweenMembers) {
      if (auto started = start_member(); !started) return std::unexpected(std::move(started.error()));
      continue;
    }
    // What is there now goes up before more is waited for, so that a slow pipe shows its lines at once.
    if (produced_ > 0 && input_.waiting() == 0) break;
    const auto from = input_.fill();
    if (!from) return std::unexpected(from.error());
    const std::size_t before = produced_;
    inflate_into(into.subspan(produced_), *from);
    // Asked even without input, because it may still hold content that did not fit before.
    if (from->empty() && produced_ == before && state_ == State::kInMember) end_with_damage(kCutShort);
  }
  return produced_;
}

Result<void> GzipSource::start_member() {
  for (;;) {
    const auto waiting = input_.fill();
    if (!waiting) return std::unexpected(waiting.error());
    const auto first = std::ranges::find_if(*waiting, [](std::byte b) { return b != std::byte{0}; });
    const auto zeros = any_member_ ? static_cast<std::size_t>(first - waiting->begin()) : 0;
    if (waiting->empty()) {
      state_ = State::kEnd;
      return {};
    }
    if (zeros == waiting->size()) {
      input_.consume(zeros);
      continue;
    }
    input_.consume(zeros);
    if (any_member_ && *first != std::byte{0x1F}) {
      end_with_damage(kTrailing);
      return {};
    }
    inflateReset(&stream_);
    state_ = State::kInMember;
    return {};
  }
}

void GzipSource::inflate_into(std::span<std::byte> into, std::span<const std::byte> from) {
  stream_.next_in = to_zlib_input(from.data());
  stream_.avail_in = to_zlib_size(from.size());
  stream_.next_out = reinterpret_cast<Bytef*>(into.data());
  stream_.avail_out = to_zlib_size(into.size());
  const uInt room = stream_.avail_out;
  const uInt given = stream_.avail_in;
  const int status = inflate(&stream_, Z_NO_FLUSH);
  input_.consume(given - stream_.avail_in);
  produced_ += room - stream_.avail_out;
  if (status == Z_STREAM_END) {
    any_member_ = true;
    state_ = State::kBetweenMembers;
  } else if (status != Z_OK && status != Z_BUF_ERROR) {
    const bool garbage = any_member_ && stream_.total_out == 0 && stream_.total_in < 4;
    end_with_damage(garbage ? kTrailing : kDamaged, stream_.msg != nullptr ? stream_.msg : "");
  }
}

void GzipSource::end_with_damage(std::string_view what, std::string_view detail) {
  add_damage(damage_, what, fmt::format("{}: byte {} of the gzip stream", name(), input_.offset()), detail);
  state_ = State::kEnd;
}

ZstdSource::ZstdSource(std::unique_ptr<ByteSource> compressed, Diagnostics& damage)
    : input_(std::move(compressed)), damage_(damage), context_(ZSTD_createDCtx()) {
  NODESCOPE_CHECK(context_ != nullptr);
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxZstdWindowLog);
}

Result<std::size_t> ZstdSource::read(std::span<std::byte> into) {
  ZSTD_outBuffer out{into.data(), into.size(), 0};
  while (out.pos < out.size && !ended_) {
    if (out.pos > 0 && input_.waiting() == 0) break;
    const auto from = input_.fill();
    if (!from) return std::unexpected(from.error());
    ZSTD_inBuffer in{from->data(), from->size(), 0};
    const std::size_t before = out.pos;
    const std::size_t status = ZSTD_decompressStream(context_.get(), &out, &in);
    input_.consume(in.pos);
    given_ += out.pos - before;
    if (given_ > kMaxFreeBytes && given_ / kMaxRatio > input_.offset()) {
      end_with_damage(kUnpacksTooFar);
    } else if (ZSTD_isError(status)) {
      const bool no_frame = ZSTD_getErrorCode(status) == ZSTD_error_prefix_unknown;
      end_with_damage(no_frame && any_frame_ ? kTrailing : kDamaged, ZSTD_getErrorName(status));
    } else if (from->empty() && out.pos == before) {
      // The decoder was asked once more because it may still hold content that did not fit before.
      if (in_frame_) end_with_damage(kCutShort);
      ended_ = true;
    } else if (!from->empty() || status == 0) {
      in_frame_ = status != 0;
      any_frame_ = any_frame_ || !in_frame_;
    }
  }
  return out.pos;
}

void ZstdSource::end_with_damage(std::string_view what, std::string_view detail) {
  add_damage(damage_, what, fmt::format("{}: byte {} of the zstd stream", name(), input_.offset()), detail);
  ended_ = true;
}

GzipSink::GzipSink(ByteSink& out) : out_(out), buffer_(kBufferBytes) {
  NODESCOPE_CHECK(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kGzipMemoryLevel,
                               Z_DEFAULT_STRATEGY) == Z_OK);
}

GzipSink::~GzipSink() {
  deflateEnd(&stream_);
}

Result<void> GzipSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    stream_.next_in = to_zlib_input(bytes.data());
    stream_.avail_in = to_zlib_size(bytes.size());
    bytes.remove_prefix(stream_.avail_in);
    if (auto written = deflate_all(Z_NO_FLUSH); !written) return written;
  }
  return {};
}

Result<void> GzipSink::finish() {
  stream_.next_in = nullptr;
  stream_.avail_in = 0;
  return deflate_all(Z_FINISH);
}

Result<void> GzipSink::deflate_all(int flush) {
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_out = to_zlib_size(buffer_.size());
    NODESCOPE_CHECK(deflate(&stream_, flush) != Z_STREAM_ERROR);
    const std::size_t count = buffer_.size() - stream_.avail_out;
    if (count == 0) continue;
    if (auto written = out_.write({buffer_.data(), count}); !written) return written;
  } while (stream_.avail_out == 0);
  return {};
}

}  // namespace nodescope
