#pragma once

#include <string>
#include <vector>

#include "page/heap/session.h"

namespace nodescope::page {

// What a page without a server has to know: the answer, all classes, the largest objects and what holds them.
// As the page asks it (ui/src/heap/queries.ts).
std::vector<std::string> questions_of_a_report(const HeapSession& session);

}  // namespace nodescope::page
