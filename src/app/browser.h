#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nodescope {

// How this session starts its browser: $BROWSER, else xdg-open where there is a display.  Nothing where it
// has none, and for root: no browser is ever started with root's rights.
std::optional<std::vector<std::string>> browser_command();

// Whether one can be started once root has become the user who called sudo.
bool will_have_browser();

// `command` with the address in its place: instead of "%s", else at the end.
std::vector<std::string> with_address(std::vector<std::string> command, std::string_view address);

}  // namespace nodescope
