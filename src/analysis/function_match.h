#pragma once

#include <vector>

#include "analysis/labels.h"

namespace nodescope {

// What the functions of two profiles are called where they are compared, by label of a table that both share.
// Labels of both
// sides that got one name are one function.
struct FunctionMatch {
  std::vector<LabelId> before;
  std::vector<LabelId> after;
};

// Which labels of two builds are the same function.  Functions match by name, then by file (match_files),
// then by their order in it, so that lines may move and folders be renamed; line and column only tell equal
// names apart.  A file that only one side has lends a name to a function in a file that only the other has,
// if that name is unique on both.  A label of unknown kind, as in plain folded text, matches any kind; where
// it has no file it stands for all functions of its name, which then count as one.  Labels without a partner
// stay as they are; where a label stands for different functions on the two sides, it gets a copy of its own.
FunctionMatch match_functions(LabelTable& labels, const std::vector<bool>& in_before,
                              const std::vector<bool>& in_after);

}  // namespace nodescope
