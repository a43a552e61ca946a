#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/diagnostics.h"
#include "target/memory.h"
#include "target/memory_map.h"
#include "v8/layout.h"

namespace nodescope::v8 {

// What V8 uses a page for.
enum class SpaceKind : std::uint8_t {
  kOld,
  kYoung,      // new objects are made here
  kEvacuated,  // the other half of the young generation: nothing in it lives, except while it is collected
  kReadOnly,   // shared by all isolates
  kCode,
};

// A page of V8's heap.  Pages begin at multiples of 256 KiB; large ones hold a single object.
struct HeapPage {
  Range<Address> range;  // with its header
  Range<Address> objects;
  Address heap;  // the V8 heap that it belongs to; 0 for read-only pages
  SpaceKind kind = SpaceKind::kOld;
  bool is_large = false;

  bool operator==(const HeapPage&) const = default;
};

constexpr std::uint64_t kHeapPageBytes = 256 * 1024;

// Every page of every V8 heap in a process, by address; none overlaps another.  A page is recognized by its
// header, of which V8 has had three layouts; what does not have the layout of the majority is no page.
std::vector<HeapPage> find_heap_pages(Memory& memory, const MemoryMap& map);

}  // namespace nodescope::v8
