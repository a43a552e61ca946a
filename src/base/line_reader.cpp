#include "base/line_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace nodescope {

namespace {

// A block and its line ends fit in the second-level cache, so that the parser reads what the kernel just
// wrote.
constexpr std::size_t kBlockBytes = 256 * 1024;
constexpr std::size_t kSmallestBlockBytes = 4096;

// Beyond the end of a caller's part only the rest of one sample is wanted.
constexpr std::size_t kTailBytes = 16 * 1024;

// Room for a last '\n' that the source lacks.
constexpr std::size_t kPadding = 64;

}  // namespace

std::size_t find_line_ends(std::string_view text, std::uint32_t* ends) {
  std::uint32_t* out = ends;
  std::size_t i = 0;
#if defined(__SSE2__)
  constexpr std::size_t kStep = 64;
  const __m128i newline = _mm_set1_epi8('\n');
  const auto mask_at = [&](std::size_t at) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    return static_cast<std::uint64_t>(
        static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, newline))));
  };
  for (; i + kStep <= text.size(); i += kStep) {
    std::uint64_t mask = mask_at(i) | mask_at(i + 16) << 16 | mask_at(i + 32) << 32 | mask_at(i + 48) << 48;
    for (; mask != 0; mask &= mask - 1) *out++ = static_cast<std::uint32_t>(i + std::countr_zero(mask));
  }
#endif
  while (i < text.size()) {
    const void* found = std::memchr(text.data() + i, '\n', text.size() - i);
    if (found == nullptr) break;
    i = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    *out++ = static_cast<std::uint32_t>(i++);
  }
  return static_cast<std::size_t>(out - ends);
}

LineReader::LineReader(ByteSource& source, Progress* progress) : source_(source), progress_(progress) {
  // One byte more than a small source has, to see that it ends.
  const std::uint64_t size = source.size().value_or(kBlockBytes);
  grow_to(static_cast<std::size_t>(std::clamp<std::uint64_t>(size + 1, kSmallestBlockBytes, kBlockBytes)));
}

LineReader::LineReader(ByteSource& source, Progress* progress, std::uint64_t begin, std::uint64_t soft_end)
    : source_(source), progress_(progress), position_(begin), soft_end_(soft_end), offset_(begin) {
  grow_to(kBlockBytes);
}

void LineReader::grow_to(std::size_t capacity) {
  auto buffer = std::make_unique_for_overwrite<char[]>(capacity + kPadding);
  if (filled_ != 0) std::memcpy(buffer.get(), buffer_.get(), filled_);
  buffer_ = std::move(buffer);
  ends_ = std::make_unique_for_overwrite<std::uint32_t[]>(capacity + kPadding);
  capacity_ = capacity;
}

void LineReader::drop_given() {
  std::memmove(buffer_.get(), buffer_.get() + given_, filled_ - given_);
  filled_ -= given_;
  offset_ += given_;
  given_ = 0;
}

Result<void> LineReader::fill() {
  std::size_t wanted = capacity_ - filled_;
  if (position_) {
    wanted = *position_ >= soft_end_
                 ? std::min(wanted, kTailBytes)
                 : static_cast<std::size_t>(std::min<std::uint64_t>(wanted, soft_end_ - *position_));
  }
  for (const std::size_t target = filled_ + wanted; filled_ < target && !at_end_;) {
    const std::span into = std::as_writable_bytes(std::span(buffer_.get() + filled_, target - filled_));
    const auto count = position_ ? source_.read_at(*position_, into) : source_.read(into);
    if (!count) return std::unexpected(count.error());
    if (position_) *position_ += *count;
    if (progress_ != nullptr) progress_->done_bytes += *count;
    filled_ += *count;
    at_end_ = *count == 0;
  }
  return {};
}

// Forgets the line that begins at `begin` as far as it has been read.
void LineReader::leave_out(std::size_t begin) {
  offset_ += filled_ - begin;
  filled_ = begin;
  leaving_out_ = true;
}

void LineReader::leave_out_rest(std::size_t begin) {
  char* const from = buffer_.get() + begin;
  const void* end = std::memchr(from, '\n', filled_ - begin);
  if (end == nullptr) return leave_out(begin);
  const std::size_t rest = static_cast<std::size_t>(static_cast<const char*>(end) - from) + 1;
  std::memmove(from, from + rest, filled_ - begin - rest);
  filled_ -= rest;
  offset_ += rest;
  leaving_out_ = false;
}

Result<std::optional<LineBlock>> LineReader::next() {
  drop_given();
  for (bool found = false; !found && !at_end_;) {
    const std::size_t before = filled_;
    if (const auto filled = fill(); !filled) return std::unexpected(filled.error());
    if (leaving_out_) leave_out_rest(before);
    found = std::memchr(buffer_.get() + before, '\n', filled_ - before) != nullptr;
    if (found || filled_ < capacity_) continue;
    if (capacity_ < kMaxLineBytes) {
      grow_to(2 * capacity_);
      continue;
    }
    const std::size_t last_line = std::string_view(buffer_.get(), filled_).rfind('\n') + 1;
    leave_out(last_line);
    ++lines_left_out_;
    found = last_line != 0;
  }
  if (at_end_ && filled_ != 0 && buffer_[filled_ - 1] != '\n') buffer_[filled_++] = '\n';
  const std::size_t lines = find_line_ends({buffer_.get(), filled_}, ends_.get());
  if (lines == 0) return std::nullopt;
  given_ = ends_[lines - 1] + std::size_t{1};
  return LineBlock{buffer_.get(), 0, {ends_.get(), lines}, offset_};
}

}  // namespace nodescope
