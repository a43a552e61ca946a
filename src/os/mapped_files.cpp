#include "os/mapped_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace nodescope {

namespace {

// A handler of signals may take no lock, so the table is one of atomics.
struct Slot {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::size_t> size{0};
};
constexpr std::uintptr_t kTaken = 1;  // while it is filled in

// A process has some ten binaries; hundreds of processes share most of them.
std::array<Slot, 4096> g_mappings;

}  // namespace

bool add_survivable_mapping(const void* begin, std::size_t size) {
  for (Slot& slot : g_mappings) {
    std::uintptr_t free = 0;
    if (!slot.begin.compare_exchange_strong(free, kTaken)) continue;
    slot.size.store(size);
    slot.begin.store(reinterpret_cast<std::uintptr_t>(begin));
    return true;
  }
  return false;
}

void remove_survivable_mapping(const void* begin) {
  const auto found = std::ranges::find_if(g_mappings, [&](const Slot& slot) {
    return slot.begin.load() == reinterpret_cast<std::uintptr_t>(begin);
  });
  if (found != g_mappings.end()) found->begin.store(0);
}

bool survive_fault(void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const Slot& slot : g_mappings) {
    const std::uintptr_t begin = slot.begin.load();
    const std::size_t size = slot.size.load();
    if (begin <= kTaken || at < begin || at - begin >= size) continue;
    // The end of the file is before this page: so is that of all that follow.
    const std::uintptr_t first = at & ~(page - 1);
    const std::size_t rest = begin + size - first;
    void* const place = reinterpret_cast<void*>(first);  // NOLINT(performance-no-int-to-ptr)
    return ::mmap(place, rest, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

}  // namespace nodescope
