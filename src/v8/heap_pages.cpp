#include "v8/heap_pages.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>

namespace nodescope::v8 {

namespace {

constexpr std::size_t kHeaderWords = 12;
using Words = std::array<std::uint64_t, kHeaderWords>;

// Larger than any process: bounds what a damaged header can claim.
constexpr std::uint64_t kMaxPageBytes = std::uint64_t{1} << 36;
constexpr std::size_t kMaxPages = 1 << 22;
// The objects begin this close to the page.
constexpr std::uint64_t kMaxHeaderBytes = 0x10000;

// Bits of the flags, in V8 9 to 14 (MemoryChunk::Flag).
constexpr std::uint64_t kFromPage = 1 << 3;
constexpr std::uint64_t kToPage = 1 << 4;

// Where the header keeps its words.
enum class HeaderLayout : std::uint8_t {
  kChunk,         // V8 9 to 11: size, flags, heap, area start, area end
  kChunkAndSelf,  // V8 12.4: flags, a pointer to itself, size, heap, area start, area end
  kMetadata,      // V8 12.9 and newer: flags, a pointer to the rest, which is elsewhere
};
constexpr std::size_t kLayouts = 3;

struct Header {
  HeaderLayout layout = HeaderLayout::kChunk;
  std::uint64_t size = 0;
  std::uint64_t flags = 0;
  std::uint64_t heap = 0;
  std::uint64_t area_begin = 0;
  std::uint64_t area_end = 0;
};

bool is_plausible(const Header& header, std::uint64_t page) {
  return header.size >= 0x2000 && header.size < kMaxPageBytes && header.flags < (std::uint64_t{1} << 32) &&
         header.area_begin > page && header.area_begin - page < kMaxHeaderBytes &&
         header.area_begin % 8 == 0 && header.area_end > header.area_begin && header.area_end % 8 == 0 &&
         header.area_end - page <= header.size;
}

std::optional<Header> parse_header(Memory& memory, Address page, const Words& words) {
  const Header chunk{HeaderLayout::kChunk, words[0], words[1], words[2], words[3], words[4]};
  if (is_plausible(chunk, page.value)) return chunk;
  const Header self{HeaderLayout::kChunkAndSelf, words[2], words[0], words[3], words[4], words[5]};
  if (words[1] == page.value && is_plausible(self, page.value)) return self;
  if (words[1] == 0 || words[1] % 8 != 0 || words[0] >= (std::uint64_t{1} << 32)) return std::nullopt;
  const auto metadata = memory.load<Words>(Address{words[1]});
  if (!metadata) return std::nullopt;
  const Words& rest = *metadata;
  const Header split{HeaderLayout::kMetadata, rest[6], words[0], rest[8], rest[9], rest[7]};
  return is_plausible(split, page.value) ? std::optional(split) : std::nullopt;
}

bool may_hold_pages(const Region& region) {
  return region.readable && region.anonymous() && region.range.size_bytes() >= 0x1000;
}

SpaceKind kind_of(const Header& header, const MemoryMap& map) {
  if (header.heap == 0) return SpaceKind::kReadOnly;
  const Region* region = map.find(Address{header.area_begin});
  if (region != nullptr && region->executable) return SpaceKind::kCode;
  if ((header.flags & kFromPage) != 0) return SpaceKind::kEvacuated;
  return (header.flags & kToPage) != 0 ? SpaceKind::kYoung : SpaceKind::kOld;
}

// What is mapped from `begin` on without a gap.
Address mapped_end(std::span<const Region> regions, std::size_t first) {
  Address end = regions[first].range.end;
  for (std::size_t i = first + 1; i < regions.size() && regions[i].range.begin == end && regions[i].readable;
       ++i)
    end = regions[i].range.end;
  return end;
}

class PageFinder {
 public:
  PageFinder(Memory& memory, const MemoryMap& map) : memory_(memory), map_(map) {}

  std::vector<HeapPage> find() {
    const auto regions = map_.regions();
    for (std::size_t i = 0; i < regions.size() && found_.size() < kMaxPages; ++i) {
      if (may_hold_pages(regions[i])) search(regions, i);
    }
    std::array<std::size_t, kLayouts> votes{};
    for (const Found& found : found_) ++votes[static_cast<std::size_t>(found.layout)];
    const auto best = static_cast<HeaderLayout>(std::ranges::max_element(votes) - votes.begin());
    std::vector<HeapPage> pages;
    for (const Found& found : found_) {
      const bool overlaps = !pages.empty() && found.page.range.begin < pages.back().range.end;
      if (found.layout == best && !overlaps) pages.push_back(found.page);
    }
    return pages;
  }

 private:
  struct Found {
    HeaderLayout layout;
    HeapPage page;
  };

  void search(std::span<const Region> regions, std::size_t index) {
    const Region& region = regions[index];
    const std::uint64_t mask = kHeapPageBytes - 1;
    std::uint64_t at = (region.range.begin.value + mask) & ~mask;
    while (at < region.range.end.value && found_.size() < kMaxPages) {
      prefetch_headers(at, region.range.end.value);
      const std::uint64_t batch_end = at + kBatch * kHeapPageBytes;
      for (; at < region.range.end.value && at < batch_end; at += kHeapPageBytes) {
        const std::uint64_t size = add_page_at(Address{at}, mapped_end(regions, index));
        if (size > kHeapPageBytes) at += ((size + mask) & ~mask) - kHeapPageBytes;
      }
    }
  }

  void prefetch_headers(std::uint64_t at, std::uint64_t end) {
    std::vector<Range<Address>> ranges;
    for (std::size_t i = 0; i < kBatch && at < end; ++i, at += kHeapPageBytes)
      ranges.push_back({Address{at}, Address{at + sizeof(Words)}});
    memory_.prefetch(ranges);
  }

  // How large it is; 0 where there is none.
  std::uint64_t add_page_at(Address at, Address end) {
    const auto words = memory_.load<Words>(at);
    const auto header = words ? parse_header(memory_, at, *words) : std::nullopt;
    if (!header) return 0;
    HeapPage page;
    page.range = {at, std::min(at + header->size, end)};
    page.objects = {Address{header->area_begin}, std::min(Address{header->area_end}, end)};
    if (page.objects.size_bytes() == 0) return 0;
    page.heap = Address{header->heap};
    page.kind = kind_of(*header, map_);
    page.is_large = header->size > kHeapPageBytes;
    found_.push_back({header->layout, page});
    return page.range.size_bytes();
  }

  static constexpr std::size_t kBatch = 4096;

  Memory& memory_;
  const MemoryMap& map_;
  std::vector<Found> found_;
};

}  // namespace

std::vector<HeapPage> find_heap_pages(Memory& memory, const MemoryMap& map) {
  return PageFinder(memory, map).find();
}

}  // namespace nodescope::v8
