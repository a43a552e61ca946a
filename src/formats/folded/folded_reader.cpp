#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/line_reader.h"
#include "base/text.h"
#include "formats/folded/folded_annotation.h"
#include "formats/folded/folded_io.h"
#include "formats/folded/folded_line.h"
#include "formats/symbol_name.h"
#include "formats/text_share.h"

namespace nodescope {

namespace {

constexpr std::size_t kExampleBytes = 80;

// How many bytes at the front of `a` and `b` are the same.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    std::uint64_t x;
    std::uint64_t y;
    std::memcpy(&x, a.data() + i, 8);
    std::memcpy(&y, b.data() + i, 8);
    if (x != y) break;
  }
  while (i < size && a[i] == b[i]) ++i;
  return i;
}

bool has_two_counts(std::string_view line) {
  const auto last = take_folded_count(line);
  return last && take_folded_count(last->rest);
}

// Whether a file has one or two counts is a property of the file: with one, the name in front of the count
// may well end with a number ("Worker 2 15").
bool has_two_counts(const LineBlock& block) {
  bool any = false;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::string_view line = block.line(i);
    if (is_blank_or_comment(line)) continue;
    if (!has_two_counts(trim_folded_line(line))) return false;
    any = true;
  }
  return any;
}

// Counts that are shares or seconds: 0.02.
bool has_counts_below_one(const LineBlock& block) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto count = take_folded_count(trim_folded_line(block.line(i)));
    if (count && count->is_rounded && count->thousandths < kThousand) return true;
  }
  return false;
}

class FoldedReader {
 public:
  void read_block(const LineBlock& block) {
    if (!two_counts_) choose_events(has_two_counts(block), has_counts_below_one(block));
    previous_ = {};  // was in the block before
    ends_.clear();
    for (std::size_t i = 0; i < block.size(); ++i) {
      ++line_number_;
      const std::string_view line = block.line(i);
      if (!is_blank_or_comment(line)) read_line(trim_folded_line(line));
    }
  }

  Profile finish(std::uint64_t lines_left_out) {
    profile_.diagnostics.add(Severity::kError, "line longer than 64 MB left out", {}, lines_left_out);
    return std::move(profile_);
  }

  bool is_empty() const { return profile_.samples.size() == 0; }

 private:
  // The end of a frame's text in the previous line, and the stack up to it.
  struct FrameEnd {
    std::size_t end;
    StackId stack;
  };

  void choose_events(bool two_counts, bool in_thousandths) {
    two_counts_ = two_counts;
    in_thousandths_ = in_thousandths;
    const Unit unit = in_thousandths ? Unit::kCount : Unit::kSamples;
    const auto context = [&](std::string_view name) {
      return profile_.samples.intern({ThreadId{}, kUnknownCpu, profile_.intern_event(name, unit)});
    };
    if (in_thousandths) profile_.diagnostics.info("counts below one: all are counted in thousandths");
    first_ = context(two_counts ? "before" : in_thousandths ? "thousandths" : "samples");
    second_ = two_counts ? context("after") : first_;
  }

  void read_line(std::string_view line) {
    const auto last = take_folded_count(line);
    if (!last) {
      warn("line without a count taken as 1", line);
      profile_.samples.add(0, read_stack(line), *two_counts_ ? second_ : first_,
                           in_thousandths_ ? kThousand : 1);
      return;
    }
    check(*last, line);
    const auto before = *two_counts_ ? take_folded_count(last->rest) : std::nullopt;
    if (!before) {
      if (*two_counts_) warn("line with one count instead of two taken as \"after\"", line);
      profile_.samples.add(0, read_stack(last->rest), *two_counts_ ? second_ : first_, weight_of(*last));
      return;
    }
    check(*before, line);
    const StackId stack = read_stack(before->rest);
    profile_.samples.add(0, stack, first_, weight_of(*before));
    profile_.samples.add(0, stack, second_, weight_of(*last));
  }

  std::uint64_t weight_of(const FoldedCount& count) const {
    return in_thousandths_ ? count.thousandths : count.value;
  }

  void check(const FoldedCount& count, std::string_view line) {
    if (count.is_rounded && !in_thousandths_) warn("count with a fraction rounded", line);
    if (count.is_clipped) warn("count larger than 2^64 clipped", line);
  }

  void warn(std::string_view what, std::string_view line) {
    const bool first = profile_.diagnostics.count(what) == 0;
    const std::size_t size = std::min(line.size(), kExampleBytes);
    const std::string_view shown = line.substr(line.size() - size);
    profile_.diagnostics.warn(what, first ? fmt::format("line {}: {}", line_number_, shown) : std::string());
  }

  // Sorted lines share most of their frames with the line before.
  StackId read_stack(std::string_view text) {
    const std::size_t common = common_prefix(previous_, text);
    while (!ends_.empty() && ends_.back().end >= common) ends_.pop_back();
    StackId stack = ends_.empty() ? kEmptyStack : ends_.back().stack;
    std::size_t begin = ends_.empty() ? 0 : ends_.back().end + 1;
    while (begin < text.size()) {
      const void* found = std::memchr(text.data() + begin, ';', text.size() - begin);
      const std::size_t end = found == nullptr
                                  ? text.size()
                                  : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
      stack = profile_.stacks.push(stack, frame(text.substr(begin, end - begin)));
      ends_.push_back({end, stack});
      begin = end + 1;
    }
    previous_ = text;
    return stack;
  }

  FrameId frame(std::string_view text) {
    const std::size_t id = texts_.intern(text).index();
    if (id >= frames_.size()) frames_.resize(id + 1);
    auto& frame = frames_[id];
    if (!frame) frame = profile_.frames.intern(frame_of_annotated_name(profile_, text));
    return *frame;
  }

  Profile profile_;
  StringTable texts_;                           // of frames, as they stand in the lines
  std::vector<std::optional<FrameId>> frames_;  // by the id of their text
  std::string_view previous_;
  std::vector<FrameEnd> ends_;
  std::optional<bool> two_counts_;
  bool in_thousandths_ = false;
  ContextId first_;
  ContextId second_;
  std::uint64_t line_number_ = 0;
};

}  // namespace

Result<Profile> read_folded(ByteSource& source, const ReadOptions& options) {
  LineReader lines(source, options.progress);
  FoldedReader reader;
  for (;;) {
    const auto block = lines.next();
    if (!block) return fail(block.error(), source.name());
    if (!*block) break;
    reader.read_block(**block);
  }
  if (reader.is_empty()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: no folded stack (\"main;parse 3\") in it", source.name()));
  }
  return reader.finish(lines.lines_left_out());
}

bool recognise_folded(std::string_view head) {
  const bool is_json = head.starts_with('{') || head.starts_with('[');
  const bool is_cut = head.size() >= kHeadBytes;
  std::size_t with_count = 0;
  std::size_t without = 0;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && is_cut) {
      // A single line that is longer than the head shows no count.
      if (with_count + without == 0)
        return !is_json && std::ranges::count(head, ';') >= 2 && head.find('\0') == std::string_view::npos;
      break;
    }
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (is_blank_or_comment(line)) continue;
    if (line.find('\0') != std::string_view::npos) return false;
    ++(take_folded_count(trim_folded_line(line)) ? with_count : without);
  }
  return with_count != 0 && explains_nearly_all(with_count, without);
}

}  // namespace nodescope
