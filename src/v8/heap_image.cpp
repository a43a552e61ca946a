#include "v8/heap_image.h"

#include <algorithm>
#include <bit>

namespace nodescope::v8 {

HeapImage::HeapImage(std::vector<Page> pages, Memory& rest) : pages_(std::move(pages)), rest_(rest) {
  std::erase_if(pages_, [](const Page& page) { return page.bytes.empty(); });
  std::size_t granules = 1;
  for (const Page& page : pages_) granules += page.page.range.size_bytes() / kHeapPageBytes + 1;
  slots_.resize(std::bit_ceil(granules * 3));
  mask_ = slots_.size() - 1;
  for (std::uint32_t index = 0; index < pages_.size(); ++index) {
    const Range<Address>& range = pages_[index].page.range;
    for (std::uint64_t at = range.begin.value; at < range.end.value; at += kHeapPageBytes)
      insert(at / kHeapPageBytes, index);
  }
}

void HeapImage::insert(std::uint64_t granule, std::uint32_t page) {
  std::size_t slot = slot_of(granule);
  while (slots_[slot].page != kNoPage) slot = (slot + 1) & mask_;
  slots_[slot] = {granule, page};
}

bool HeapImage::read(Address address, std::span<std::byte> into) {
  const auto bytes = at(address.value);
  if (bytes.empty()) return rest_.read(address, into);
  if (bytes.size() < into.size()) return false;
  std::ranges::copy(bytes.first(into.size()), into.begin());
  return true;
}

}  // namespace nodescope::v8
