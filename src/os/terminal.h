#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace nodescope {

bool standard_input_is_terminal();
bool standard_output_is_terminal();
bool standard_error_is_terminal();

// Columns of the terminal behind standard output; 100 where there is none.
std::size_t terminal_columns();

// Lines of the terminal behind standard output; 24 where there is none.
std::size_t terminal_rows();

// While it lives, keys reach us one by one and are not shown, on a screen of our own.  What was on the
// terminal is there again afterwards.
class FullScreen {
 public:
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  // Nothing when none is pressed.  Escape sequences (arrow keys) are swallowed.
  std::optional<char> read_key();
  // Puts `text` on the screen in place of what is there.
  void show(std::string_view text);

 private:
  termios before_{};
};

// Cores that this process may use.
unsigned available_cores();

}  // namespace nodescope
