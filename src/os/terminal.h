#pragma once

#include <signal.h>
#include <termios.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace nodescope {

bool standard_input_is_terminal();
bool standard_output_is_terminal();
bool standard_error_is_terminal();

// Writes to standard error what it takes; errors and a reader that has gone away are ignored.
void write_note(std::string_view text);
// False: a write would wait, for a terminal that was stopped with Ctrl-S or a reader that does not read.
bool standard_error_takes_text();

// Puts the terminal back as it was before FullScreen; for signal handlers.
void restore_terminal();

// Opens /dev/null for each of the descriptors 0 to 2 that is not open, in a way that using it still fails:
// the next file to be opened would be taken for standard output or standard error.
void fill_standard_descriptors();

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
  // Puts `text` on the screen in place of what is there.  Nothing while the terminal takes nothing (Ctrl-S).
  void show(std::string_view text);

 private:
  struct sigaction before_pause_{};
};

// While it lives, keys reach us one by one and are not shown; Ctrl-C is one of them.
class TypedKeys {
 public:
  TypedKeys();
  ~TypedKeys();
  TypedKeys(const TypedKeys&) = delete;
  TypedKeys& operator=(const TypedKeys&) = delete;
};

// To standard output, at once; errors are ignored.
void write_to_terminal(std::string_view text);

// Something comes through standard input, which is no terminal.  Some programs start others with a pipe that
// they never write to: after five seconds of silence it counts as none.
bool standard_input_is_given();

// Cores that this process may use.
unsigned available_cores();

}  // namespace nodescope
