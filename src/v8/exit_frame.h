#pragma once

#include <cstdint>
#include <optional>

#include "binary/address.h"
#include "binary/elf_file.h"
#include "target/memory.h"

namespace nodescope::v8 {

// Where a thread has left JavaScript for C++: V8 keeps the frame pointer of that place, so that what called
// it can be found when the native code above it cannot be unwound.  Only for a process that stands still:
// later it is another one.
class ExitFrames {
 public:
  // Nothing when the binary does not tell: stripped, older than V8 11, or a library.
  static std::optional<ExitFrames> find(const ElfFile& binary);

  // What the root register holds while the thread with this fs_base runs V8's code; nothing when it has no
  // isolate.
  std::optional<Address> root(Memory& memory, std::uint64_t thread_pointer) const;

  // The frame pointer of the newest exit of the thread with this fs_base; nothing when it has none.
  std::optional<Address> newest(Memory& memory, std::uint64_t thread_pointer) const;

 private:
  ExitFrames(std::uint64_t below_thread_pointer, std::int32_t from_root)
      : below_thread_pointer_(below_thread_pointer), from_root_(from_root) {}

  std::uint64_t below_thread_pointer_;  // where the thread's Isolate is kept
  std::int32_t from_root_;              // of the frame pointer, from the Isolate's root
};

}  // namespace nodescope::v8
