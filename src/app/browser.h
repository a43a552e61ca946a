#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nodescope {

// Whether whoever runs us sits at another machine: by ssh or mosh, also where sudo has removed what they
// tell.
bool is_remote_session();

// How whoever runs us starts a browser: $BROWSER, else xdg-open where there is a display, other than one
// that ssh forwards: a browser there is a slow picture of one.  Nothing where there is none, and for root
// unless somebody called sudo: then it is to be started after root has become them.
std::optional<std::vector<std::string>> browser_command();

// `command` with the address in its place: instead of "%s", else at the end.
std::vector<std::string> with_address(std::vector<std::string> command, std::string_view address);

}  // namespace nodescope
