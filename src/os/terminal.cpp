#include "os/terminal.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

namespace nodescope {

namespace {
constexpr std::size_t kDefaultColumns = 100;
constexpr std::size_t kDefaultRows = 24;

constexpr std::string_view kEnter = "\033[?1049h\033[?25l";  // another screen, no cursor
constexpr std::string_view kLeave = "\033[?25h\033[?1049l";
constexpr std::string_view kHome = "\033[H";
constexpr std::string_view kClearLine = "\033[K";
constexpr std::string_view kClearBelow = "\033[J";

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
    if (count <= 0 && errno != EINTR && errno != EAGAIN) return;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
}
}  // namespace

bool standard_input_is_terminal() {
  return ::isatty(STDIN_FILENO) == 1;
}
bool standard_output_is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}
bool standard_error_is_terminal() {
  return ::isatty(STDERR_FILENO) == 1;
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultColumns;
  return size.ws_col;
}

std::size_t terminal_rows() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return kDefaultRows;
  return size.ws_row;
}

FullScreen::FullScreen() {
  ::tcgetattr(STDIN_FILENO, &before_);
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  put(kEnter);
}

FullScreen::~FullScreen() {
  put(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::optional<char> FullScreen::read_key() {
  std::array<char, 16> keys{};
  const ssize_t count = ::read(STDIN_FILENO, keys.data(), 1);
  if (count != 1) return std::nullopt;
  if (keys[0] != '\033') return keys[0];
  const ssize_t rest = ::read(STDIN_FILENO, keys.data(), keys.size());
  return rest > 0 ? std::nullopt : std::optional('\033');
}

void FullScreen::show(std::string_view text) {
  std::string screen(kHome);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    screen += line;
    screen += kClearLine;
    if (!text.empty()) screen += "\r\n";
  }
  screen += kClearBelow;
  put(screen);
}

unsigned available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

}  // namespace nodescope
