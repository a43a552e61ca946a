#include "formats/v8_log/code_map.h"

#include <iterator>
#include <limits>

namespace nodescope::v8_log {

void CodeMap::add(std::uint64_t begin, std::uint64_t size, FrameId frame) {
  if (size == 0 || size > std::numeric_limits<std::uint64_t>::max() - begin) return;
  auto next = codes_.lower_bound(begin);
  if (next != codes_.begin()) {
    const auto before = std::prev(next);
    if (begin - before->first < before->second.size) next = codes_.erase(before);
  }
  while (next != codes_.end() && next->first - begin < size) next = codes_.erase(next);
  codes_.emplace_hint(next, begin, Code{size, frame});
}

bool CodeMap::move(std::uint64_t from, std::uint64_t to) {
  const auto found = codes_.find(from);
  if (found == codes_.end()) return false;
  const Code code = found->second;
  codes_.erase(found);
  add(to, code.size, code.frame);
  return true;
}

std::optional<FrameId> CodeMap::find(std::uint64_t address) const {
  const auto after = codes_.upper_bound(address);
  if (after == codes_.begin()) return std::nullopt;
  const auto code = std::prev(after);
  if (address - code->first >= code->second.size) return std::nullopt;
  return code->second.frame;
}

}  // namespace nodescope::v8_log
