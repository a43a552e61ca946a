#include "os/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
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

bool takes_text(int fd) {
  pollfd event{fd, POLLOUT, 0};
  return ::poll(&event, 1, 0) != 0;
}

void put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count <= 0 && errno != EINTR) return;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
}

// What a signal handler needs to know.
struct ScreenState {
  volatile std::sig_atomic_t active = 0;
  volatile std::sig_atomic_t is_full = 0;  // a screen of our own
  termios before{};
  termios raw{};
};
ScreenState g_screen;

void enter_screen() {
  ::tcsetattr(STDIN_FILENO, TCSANOW, &g_screen.raw);
  put(STDOUT_FILENO, kEnter);
}

// Ctrl-Z: the shell gets its terminal as it was, and we ours when we go on.
void pause_on_screen(int) {
  const int number = errno;
  const bool was_active = g_screen.active != 0;
  restore_terminal();
  std::raise(SIGSTOP);
  if (was_active) {
    g_screen.active = 1;
    enter_screen();
  }
  errno = number;
}

// Standard error may be a pipe: while this lives, a reader that has gone away is an error and no signal.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending{};
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    const timespec at_once{};
    while (!was_pending_ && ::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};
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

void write_note(std::string_view text) {
  const WithoutPipeSignal guard;
  put(STDERR_FILENO, text);
}

bool standard_error_takes_text() {
  return takes_text(STDERR_FILENO);
}

void restore_terminal() {
  if (g_screen.active == 0) return;
  g_screen.active = 0;
  if (g_screen.is_full != 0) put(STDOUT_FILENO, kLeave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &g_screen.before);
}

void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest number that is free is this one.
    [[maybe_unused]] const int opened =
        ::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);  // NOLINT
  }
}

FullScreen::FullScreen() {
  ::tcgetattr(STDIN_FILENO, &g_screen.before);
  g_screen.raw = g_screen.before;
  g_screen.raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  g_screen.raw.c_cc[VMIN] = 0;
  g_screen.raw.c_cc[VTIME] = 0;
  g_screen.is_full = 1;
  g_screen.active = 1;
  enter_screen();
  struct sigaction pause{};
  pause.sa_handler = pause_on_screen;
  pause.sa_flags = SA_RESTART;
  ::sigaction(SIGTSTP, &pause, &before_pause_);
}

FullScreen::~FullScreen() {
  ::sigaction(SIGTSTP, &before_pause_, nullptr);
  restore_terminal();
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
  if (takes_text(STDOUT_FILENO)) put(STDOUT_FILENO, screen);
}

TypedKeys::TypedKeys() {
  ::tcgetattr(STDIN_FILENO, &g_screen.before);
  g_screen.raw = g_screen.before;
  g_screen.raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
  g_screen.raw.c_cc[VMIN] = 1;
  g_screen.raw.c_cc[VTIME] = 0;
  g_screen.is_full = 0;
  g_screen.active = 1;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &g_screen.raw);
}

TypedKeys::~TypedKeys() {
  restore_terminal();
}

void write_to_terminal(std::string_view text) {
  put(STDOUT_FILENO, text);
}

bool standard_input_is_given() {
  struct stat about{};
  if (::fstat(STDIN_FILENO, &about) != 0) return false;
  if (S_ISREG(about.st_mode)) return about.st_size > 0;
  if (!S_ISFIFO(about.st_mode) && !S_ISSOCK(about.st_mode)) return false;
  constexpr int kSilenceMs = 5000;
  pollfd event{STDIN_FILENO, POLLIN, 0};
  return ::poll(&event, 1, kSilenceMs) > 0;
}

unsigned available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&set));
}

}  // namespace nodescope
