#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "formats/format.h"
#include "model/profile.h"

namespace nodescope::testing {

// A profile written as folded lines, outermost frame first: profile_of("main;parse;read 3\nmain;idle 1").
// Frames are of kind kNative unless they carry a kind: "js:handler", "kernel:read", "gc:Scavenge".
Profile profile_of(std::string_view folded);

// Frames are of unknown kind, as in a file that says nothing about kinds.
Profile plain_profile_of(std::string_view folded);

// `text` as a file of `format`; read_as expects that it can be read.
Result<Profile> try_read_as(const Format& format, std::string_view text);
Profile read_as(const Format& format, std::string_view text);
std::string write_as(const Format& format, const Profile& profile);

// Everything that a profile says, as text in a canonical order that does not depend on ids.  Two profiles
// with the same text are the same profile.
std::string to_text(const Profile& profile);

// Reads every prefix of `good`; with `step` > 1 only every step-th.  The test is that nothing crashes or
// hangs.
void read_every_prefix(const Format& format, std::string_view good, std::size_t step = 1);

// A file or folder of the source tree: "tests/golden/folded".
std::string source_path(std::string_view path);

// The content of a file below the source folder: "tests/golden/folded/simple/input".
std::string read_test_file(std::string_view path);

}  // namespace nodescope::testing
