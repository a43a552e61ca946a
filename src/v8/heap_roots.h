#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "target/memory.h"
#include "target/memory_map.h"
#include "v8/heap_pages.h"

namespace nodescope::v8 {

// What keeps an object alive from outside of the heap.
enum class RootKind : std::uint8_t {
  kStrongRoots,  // of the isolate: its table of roots and what its current thread works on
  kStack,
  kHandleScopes,
  kGlobalHandles,  // v8::Global, as C++ holds them
  kEternalHandles,
  kMicrotasks,
  kCompilationCache,
};
constexpr std::size_t kRootKinds = 7;

struct HeapRoot {
  RootKind kind = RootKind::kStrongRoots;
  std::uint64_t word = 0;  // tagged

  bool operator==(const HeapRoot&) const = default;
};

// A thread of a process that stands still.
struct HeapThread {
  pid_t tid = 0;
  std::vector<std::uint64_t> registers;
  Address stack_pointer;
  Address thread_pointer;  // 0: not known
};

// One V8 of a process: that of its main thread, or of a worker.
struct Isolate {
  Address heap;
  Address isolate;  // 0: not found, so that nothing is known to live
  pid_t tid = 0;    // the thread that runs it; 0: not known
  std::vector<HeapRoot> roots;
  std::uint32_t page_count = 0;
  // Handles point into the half of the young generation that is being emptied: the heap is being collected.
  bool is_collecting = false;
};

// The isolates of a process that stands still, in the order of their threads, with all their roots.  Each
// root was read where V8 keeps it; structures without symbols are recognized by their pointers to each other,
// so the answer does not depend on a version.  Stacks are read conservatively: a word that could be a
// reference is one.
std::vector<Isolate> find_isolates(Memory& memory, const MemoryMap& map, std::span<const HeapPage> pages,
                                   std::span<const HeapThread> threads);

}  // namespace nodescope::v8
