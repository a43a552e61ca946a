#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/byte_source.h"
#include "base/progress.h"
#include "base/result.h"

namespace nodescope {

// Some whole lines of a text.
struct LineBlock {
  const char* text = nullptr;
  std::size_t begin = 0;                // of the first line in `text`
  std::span<const std::uint32_t> ends;  // where the '\n' of each line is in `text`
  std::uint64_t offset = 0;             // of `text` in the source

  std::size_t size() const { return ends.size(); }
  std::size_t begin_of(std::size_t line) const { return line == 0 ? begin : ends[line - 1] + std::size_t{1}; }
  std::string_view line(std::size_t i) const { return {text + begin_of(i), ends[i] - begin_of(i)}; }
  bool is_empty(std::size_t i) const { return begin_of(i) == ends[i]; }

  // Lines [first, last) of it.
  LineBlock lines(std::size_t first, std::size_t last) const {
    return {text, begin_of(first), ends.subspan(first, last - first), offset};
  }
};

// Reads a text as blocks of whole lines, in a buffer that it reuses.  The last line needs no '\n'.  A line of
// more than kMaxLineBytes is left out and counted, so that memory stays bounded whatever comes.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

  // The whole source, in order.  `progress` may be null.
  LineReader(ByteSource& source, Progress* progress);

  // From `begin` on, at random.  Nothing beyond `soft_end` is read ahead, because a caller that works on a
  // part of the source stops soon after it.
  LineReader(ByteSource& source, Progress* progress, std::uint64_t begin, std::uint64_t soft_end);

  // The next lines; none at the end.  Valid until the next call.
  Result<std::optional<LineBlock>> next();

  // Gives the last block's text from `begin` (of a line) on once more, in front of the next block.  At the
  // end of the source there is no next block: see at_end().
  void keep_from(std::size_t begin) { given_ = begin; }
  bool at_end() const { return at_end_; }

  std::uint64_t lines_left_out() const { return lines_left_out_; }

 private:
  void drop_given();
  Result<void> fill();
  void grow_to(std::size_t capacity);
  void leave_out(std::size_t begin);
  void leave_out_rest(std::size_t begin);

  ByteSource& source_;
  Progress* progress_;
  std::optional<std::uint64_t> position_;  // of the next read_at; none: read in order
  std::uint64_t soft_end_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::unique_ptr<std::uint32_t[]> ends_;
  std::size_t capacity_ = 0;
  std::size_t filled_ = 0;
  std::size_t given_ = 0;     // bytes at the front that the caller is done with
  std::uint64_t offset_ = 0;  // of buffer_[0]
  std::uint64_t lines_left_out_ = 0;
  bool leaving_out_ = false;  // in the middle of a line that is too long
  bool at_end_ = false;
};

// Writes the offset of every '\n' of `text` to `ends`, which has room for one per byte and 64 more; returns
// how many.
std::size_t find_line_ends(std::string_view text, std::uint32_t* ends);

}  // namespace nodescope
