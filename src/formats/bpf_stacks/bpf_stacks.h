#pragma once

#include "formats/format.h"

namespace nodescope {

// Maps that bpftrace prints, with a stack in their keys: "@[kstack, ustack, comm]: 12".
extern const Format kBpftraceFormat;

// What bcc's tools print (profile, offcputime, offwaketime, …) without -f; with it they write folded stacks.
extern const Format kBccFormat;

}  // namespace nodescope
