#pragma once

#include "model/profile.h"

namespace nodescope {

// As append(): what `from` does not know the thread of belongs to `unknown_thread` of `into`.
void append_as(Profile& into, const Profile& from, ThreadId unknown_thread);

}  // namespace nodescope
