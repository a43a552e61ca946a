#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nodescope {

// A part of another process's memory and where its bytes go.
struct RemoteBytes {
  std::uint64_t address = 0;
  std::span<std::byte> into;
};

// Copies every piece with as few system calls as possible (process_vm_readv).  Says for each whether all of
// it could be read; a piece that could not has unspecified content.
std::vector<bool> read_process_memory(pid_t pid, std::span<const RemoteBytes> pieces);

// The process has ended, or ends: its memory is given back already.
bool has_lost_its_memory(pid_t pid);

}  // namespace nodescope
