#pragma once

#include <string>
#include <string_view>

#include "formats/format.h"
#include "model/profile.h"

namespace nodescope {

// stackcollapse-perf.pl marks frames behind their names: "read_[k]" is of the kernel, "foo_[j]" of a
// just-in-time compiler, "bar_[i]" inlined.  Others ("_[w]" of a waker) stay part of the name.
Frame frame_of_annotated_name(Profile& profile, std::string_view text);

// The name of `frame` as it stands in a folded line: one line, without ';'.
std::string folded_name(const Profile& profile, const Frame& frame, const WriteOptions& options);

// `text` with every ';' made ':', and every line break and zero a blank.
std::string one_folded_name(std::string_view text);

}  // namespace nodescope
