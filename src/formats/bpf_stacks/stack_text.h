#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/profile.h"

namespace nodescope::bpf {

// "    main+12" -> "main"; also with the address in front and the binary behind, as perf prints it.
Frame frame_of_line(Profile& profile, std::string_view line);

// "node (4711)" and the like.
ThreadId thread_of(Profile& profile, std::string_view comm, std::int32_t pid);

std::string_view trim(std::string_view text);

// The stack of frames that are listed innermost first.
StackId stack_of(Profile& profile, const std::vector<FrameId>& frames);

}  // namespace nodescope::bpf
