#pragma once

#include <vector>

#include "analysis/selection.h"
#include "model/profile.h"

namespace nodescope {

// How stacks look in a copy; each gives the new stack of every old one that is `sampled`.

// As they are.
std::vector<StackId> copy_stacks(const Profile& from, Profile& into, const std::vector<bool>& sampled);

// As `selection` asks for: only the application's own frames and one leaf for what lies below them
// (only_my_code), what lies above the first JavaScript as one frame (fold_event_loop), or as they are;
// without asynchronous callers (leave_out_async_callers).
std::vector<StackId> copy_selected_stacks(const Profile& from, Profile& into, const Selection& selection,
                                          const std::vector<bool>& sampled);

ProcessId copy_process(const Profile& from, ProcessId id, Profile& into);
ThreadId copy_thread(const Profile& from, ThreadId id, Profile& into);

}  // namespace nodescope
