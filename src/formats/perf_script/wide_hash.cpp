#include "formats/perf_script/wide_hash.h"

#include <random>
#include <utility>

namespace nodescope {

namespace {
constexpr std::size_t kFirstSlots = 1024;
}

const WideHashKeys& wide_hash_keys() {
  static const WideHashKeys keys = [] {
    std::random_device device;
    const auto draw = [&] { return std::uint64_t{device()} << 32 | device(); };
    return WideHashKeys{draw(), draw()};
  }();
  return keys;
}

void HashIndex::clear() {
  slots_.assign(kFirstSlots, Slot{});
  mask_ = kFirstSlots - 1;
  size_ = 0;
}

std::uint32_t& HashIndex::add(const WideHash& hash) {
  if (2 * ++size_ > slots_.size()) grow();
  Slot& slot = free_slot(hash.low);
  slot.low = hash.low;
  slot.high = static_cast<std::uint32_t>(hash.high);
  return slot.number;
}

HashIndex::Slot& HashIndex::free_slot(std::uint64_t low) {
  std::size_t i = low & mask_;
  while (slots_[i].number != 0) i = (i + 1) & mask_;
  return slots_[i];
}

void HashIndex::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  mask_ = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number != 0) free_slot(slot.low) = slot;
  }
}

}  // namespace nodescope
