#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/flat_map.h"
#include "base/result.h"
#include "os/page_map.h"
#include "target/live_process.h"

namespace nodescope {

// What the memory of a Node.js process is used for.
enum class MemoryUse : std::uint8_t {
  kYoung,  // V8's heap: new objects
  kOld,
  kLarge,  // objects that have pages of their own
  kCode,   // that V8 generated
  kReadOnly,
  kMalloc,  // of C++: Node itself, libraries, small buffers
  kBlocks,  // large pieces outside of V8's heap: buffers, WebAssembly, caches of libraries
  kStacks,
  kProgram,  // the program, its libraries and other files
};
constexpr std::size_t kMemoryUses = 9;
constexpr std::array<std::string_view, kMemoryUses> kMemoryUseNames = {
    "young", "old", "large", "code", "read_only", "malloc", "blocks", "stacks", "files"};

struct MemorySplit {
  std::uint64_t rss_bytes = 0;
  std::array<std::uint64_t, kMemoryUses> bytes{};  // in memory, by MemoryUse

  std::uint64_t operator[](MemoryUse use) const { return bytes[static_cast<std::size_t>(use)]; }
  std::uint64_t heap_bytes() const { return bytes[0] + bytes[1] + bytes[2] + bytes[3] + bytes[4]; }
};

// Parts that RSS does not have are left out, and those that no mapping explains are not in any part.
class MemoryWatch {
 public:
  static Result<MemoryWatch> open(pid_t pid);
  // Without stopping it: pages that come and go meanwhile may be missed.
  Result<MemorySplit> read();

 private:
  MemoryWatch(std::unique_ptr<LiveProcess> process, PageMap pages)
      : process_(std::move(process)), pages_(std::move(pages)) {}

  MemoryUse use_of(const Region& region) const;
  void find_stacks();

  std::unique_ptr<LiveProcess> process_;
  PageMap pages_;
  FlatMap<pid_t, std::uint64_t> stack_pointers_;  // by thread, when it was last seen waiting
};

}  // namespace nodescope
