#pragma once

#include "formats/format.h"

namespace nodescope {

// Folded stacks, as flamegraph.pl and its kin take them: "main;parse;read 3", outermost frame first.  Two
// counts ("main;parse 3 5", as difffolded.pl writes) are the events "before" and "after".  A folded file has
// one column of counts, so of a profile with several events it gets the first; "before" and "after" become
// two counts again.
extern const Format kFoldedFormat;

// Whether the events of `profile` are those of two counts.
bool has_two_counts(const Profile& profile);

}  // namespace nodescope
