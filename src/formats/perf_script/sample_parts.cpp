#include "formats/perf_script/sample_parts.h"

namespace nodescope {

namespace {

// Large enough that the sample which is read twice at each border does not count, small enough that the
// threads finish together.
constexpr std::uint64_t kPartBytes = std::uint64_t{4} << 20;

}  // namespace

// Two bytes before the beginning tell whether a sample begins right there.
SampleLines::SampleLines(ByteSource& source, Progress* progress, const SamplePart& part)
    : reader_(source, progress, part.begin < 2 ? 0 : part.begin - 2, part.end),
      part_(part),
      starts_inside_(part.begin >= 2),
      first_line_is_whole_(part.begin < 2) {}

Result<std::optional<LineBlock>> SampleLines::next() {
  while (!is_done_) {
    const auto block = reader_.next();
    if (!block || !*block) return block;
    const auto samples = starts_inside_ ? from_first_sample(**block) : **block;
    if (!samples) continue;
    const LineBlock wanted = up_to_end(*samples);
    if (wanted.size() != 0) return wanted;
  }
  return std::nullopt;
}

std::optional<LineBlock> SampleLines::from_first_sample(const LineBlock& block) {
  const auto is_beyond_end = [&](std::size_t line) {
    return block.offset + block.ends[line] + 1 >= part_.end;
  };
  for (std::size_t i = first_line_is_whole_ ? 0 : 1; i < block.size(); ++i) {
    if (!block.is_empty(i)) continue;
    starts_inside_ = false;
    is_done_ = is_beyond_end(i);
    return block.lines(i + 1, block.size());
  }
  first_line_is_whole_ = true;
  is_done_ = is_beyond_end(block.size() - 1);
  return std::nullopt;
}

LineBlock SampleLines::up_to_end(const LineBlock& block) {
  if (is_done_) return block.lines(0, 0);
  if (block.size() == 0 || block.offset + block.ends.back() + 1 < part_.end) return block;
  const auto reaches_end = [&](std::uint32_t end) { return block.offset + end + 1 >= part_.end; };
  const auto first = std::ranges::partition_point(block.ends, std::not_fn(reaches_end));
  for (auto i = static_cast<std::size_t>(first - block.ends.begin()); i < block.size(); ++i) {
    if (!block.is_empty(i)) continue;
    is_done_ = true;
    return block.lines(0, i + 1);
  }
  return block;
}

std::vector<SamplePart> cut_into_parts(const ByteSource& source, unsigned threads) {
  const auto size = source.size();
  if (threads < 2 || !size || *size < 2 * kPartBytes) return {SamplePart{}};
  std::vector<SamplePart> parts;
  for (std::uint64_t begin = 0; begin < *size; begin += kPartBytes) {
    parts.push_back({begin, std::min(begin + kPartBytes, *size), parts.size()});
  }
  return parts;
}

}  // namespace nodescope
