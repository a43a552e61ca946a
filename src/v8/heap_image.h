#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "target/memory.h"
#include "v8/heap_pages.h"

namespace nodescope::v8 {

// The bytes of V8's heap: of a copy of a live process, or borrowed from a core file.  What is not in a page
// is read from another memory: the characters of external strings.
class HeapImage final : public Memory {
 public:
  struct Page {
    HeapPage page;
    std::span<const std::byte> bytes;  // from page.range.begin on; may be fewer than the page has
  };

  // Pages without bytes are left out.  `rest` and the bytes are borrowed.
  HeapImage(std::vector<Page> pages, Memory& rest);

  bool read(Address address, std::span<std::byte> into) override;

  std::span<const Page> pages() const { return pages_; }
  static constexpr std::uint32_t kNoPage = ~std::uint32_t{0};
  // The page whose objects surround `address`.
  std::uint32_t page_at(std::uint64_t address) const {
    const std::uint64_t granule = address / kHeapPageBytes;
    for (std::size_t slot = slot_of(granule);; slot = (slot + 1) & mask_) {
      const std::uint32_t index = slots_[slot].page;
      if (index == kNoPage) return kNoPage;
      if (slots_[slot].granule == granule)
        return pages_[index].page.objects.contains(Address{address}) ? index : kNoPage;
    }
  }
  // What is there, up to the end of the page's bytes; empty outside of all pages.
  std::span<const std::byte> at(std::uint64_t address) const {
    const std::uint32_t index = page_at(address);
    if (index == kNoPage) return {};
    const Page& page = pages_[index];
    const std::uint64_t offset = address - page.page.range.begin.value;
    return offset < page.bytes.size() ? page.bytes.subspan(offset) : std::span<const std::byte>();
  }
  template <typename T>
  std::optional<T> get(std::uint64_t address) const {
    const auto bytes = at(address);
    if (bytes.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

 private:
  struct Slot {
    std::uint64_t granule = 0;
    std::uint32_t page = kNoPage;
  };
  std::size_t slot_of(std::uint64_t granule) const { return (granule * 0x9E3779B97F4A7C15u >> 24) & mask_; }
  void insert(std::uint64_t granule, std::uint32_t page);

  std::vector<Page> pages_;
  std::vector<Slot> slots_;  // a hash table, open addressing
  std::size_t mask_ = 0;
  Memory& rest_;
};

}  // namespace nodescope::v8
