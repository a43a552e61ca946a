#pragma once

#include <cstddef>

namespace nodescope {

// Mappings of files that their owner may shorten while we read them.  Reading what is no longer there raises
// SIGBUS; in these mappings it then reads as zeros, as in a damaged file, which every reader survives.
//
// False: there is no room for another one.
bool add_survivable_mapping(const void* begin, std::size_t size);
void remove_survivable_mapping(const void* begin);

// For the handler of SIGBUS: puts zeros where the fault was.  False: it was in no such mapping.
bool survive_fault(void* address);

}  // namespace nodescope
