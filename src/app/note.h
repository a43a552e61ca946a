#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "os/terminal.h"

namespace nodescope {

// Says something on standard error.  That nobody can hear it (a full disk, a lost terminal, a closed pipe) is
// no reason to end.
template <typename... Arguments>
void note(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_note(fmt::format(format, std::forward<Arguments>(arguments)...));
}

// The same for what must not wait: nothing is said while the terminal takes nothing (Ctrl-S).
template <typename... Arguments>
void note_at_once(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  if (standard_error_takes_text()) write_note(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace nodescope
