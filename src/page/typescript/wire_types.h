#pragma once

#include <string>

namespace nodescope::page {

// The page's side of its replies: TypeScript made of page/replies.h and of the list of views.
std::string wire_types();

}  // namespace nodescope::page
