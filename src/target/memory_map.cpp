#include "target/memory_map.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace nodescope {

namespace {

// Up to the next space, which goes too.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return word;
}

std::optional<Range<Address>> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto begin = parse_hex(text.substr(0, dash));
  const auto end = parse_hex(text.substr(dash + 1));
  if (!begin || !end || *begin >= *end) return std::nullopt;
  return Range<Address>{Address{*begin}, Address{*end}};
}

// "7f00-7f10 r-xp 00001000 08:01 1234    /lib/x.so"
std::optional<Region> parse_region(std::string_view line) {
  Region region;
  const auto range = parse_range(take_word(line));
  const std::string_view permissions = take_word(line);
  const auto offset = parse_hex(take_word(line));
  region.device = take_word(line);
  const auto inode = parse_number<std::uint64_t>(take_word(line));
  if (!range || permissions.size() < 3 || !offset || !inode) return std::nullopt;
  region.range = *range;
  region.readable = permissions[0] == 'r';
  region.writable = permissions[1] == 'w';
  region.executable = permissions[2] == 'x';
  region.offset = FileOffset{*offset};
  region.inode = *inode;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  region.path = line;
  return region;
}

}  // namespace

MemoryMap MemoryMap::parse(std::string_view text) {
  MemoryMap map;
  while (!text.empty() && map.regions_.size() < kMaxRegions) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    auto region = parse_region(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (!region) continue;
    if (!map.regions_.empty() && region->range.begin < map.regions_.back().range.end) continue;
    map.regions_.push_back(std::move(*region));
  }
  return map;
}

const Region* MemoryMap::find(Address address) const {
  const auto next = std::ranges::upper_bound(regions_, address, {},
                                             [](const Region& region) { return region.range.begin; });
  if (next == regions_.begin()) return nullptr;
  const Region& region = *std::prev(next);
  return region.range.contains(address) ? &region : nullptr;
}

}  // namespace nodescope
