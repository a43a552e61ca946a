#pragma once

#include <vector>

#include "analysis/selection.h"
#include "model/profile.h"

namespace nodescope {

// How stacks look in a copy; each gives the new stack of every old one that is `sampled`.

// As they are.
std::vector<StackId> copy_stacks(const Profile& from, Profile& into, const std::vector<bool>& sampled);

// With the application's own frames only and one leaf for what lies below them: Selection::only_my_code.
std::vector<StackId> copy_own_stacks(const Profile& from, Profile& into, const std::vector<bool>& sampled);

// With what lies above the first JavaScript as one frame: Selection::fold_event_loop.
std::vector<StackId> copy_folded_stacks(const Profile& from, Profile& into, const std::vector<bool>& sampled);

// The one of these that `selection` asks for.
std::vector<StackId> copy_selected_stacks(const Profile& from, Profile& into, const Selection& selection,
                                          const std::vector<bool>& sampled);

ProcessId copy_process(const Profile& from, ProcessId id, Profile& into);
ThreadId copy_thread(const Profile& from, ThreadId id, Profile& into);

}  // namespace nodescope
