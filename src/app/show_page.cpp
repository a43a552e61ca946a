#include "app/show_page.h"

#include <fmt/format.h>

#include <cstdio>

#include "app/browser.h"
#include "app/input.h"
#include "app/note.h"
#include "app/output.h"
#include "app/server/server.h"
#include "base/text.h"
#include "os/process.h"
#include "os/procfs.h"
#include "os/terminal.h"
#include "os/user.h"

namespace nodescope {

namespace {

// Whoever talks to the server talks to a process that may do no more than the user; and a recording that
// names a file of root's, as the source of a function, does not get it shown.
void give_up_root() {
  if (!is_root()) return;
  const auto user = sudo_user();
  const auto done = become(user ? *user : nobody());
  if (done) return;
  note("nodescope: serving with root's rights: {}\n", done.error().message);
}

void print_hints(std::uint16_t port, bool is_opening, bool is_remote) {
  if (is_opening) {
    note("Opening it in the browser. Ctrl-C ends it.\n");
  } else if (is_remote) {
    note(
        "On your own machine, run this and open the address there (the port must be the same):\n"
        "  ssh -N -L {0}:127.0.0.1:{0} {1}\nCtrl-C ends it.\n",
        port, printable(host_name()));
  } else {
    note("Open this address in a browser of this machine. Ctrl-C ends it.\n");
  }
}

// Never as root, should it still be.
bool open_browser(const std::vector<std::string>& command, server::Server& server) {
  if (is_root()) return false;
  const auto started = start_detached(with_address(command, server.opening_address()));
  if (!started) return false;
  server.when_a_child_ends([&server, pid = *started, name = command.front()] {
    const int code = take_exit_code(pid).value_or(0);
    if (code == 0 || server.was_opened()) return;
    note(
        "No browser has opened: {} ended with code {}. Open the address above in a browser of this "
        "machine.\n",
        printable(name), code);
  });
  return true;
}

}  // namespace

Result<void> show_page(server::Recordings recordings, const ShowOptions& options) {
  auto server = server::Server::listen(options.port, std::move(recordings));
  if (!server) return std::unexpected(server.error());
  const auto browser = options.opens_browser ? browser_command() : std::nullopt;
  const bool is_remote = is_remote_session();
  give_up_root();
  auto printed = write_output("-", [&](ByteSink& sink) { return sink.write((*server)->address() + "\n"); });
  if (!printed) return printed;
  print_hints((*server)->port(), browser && open_browser(*browser, **server), is_remote);
  (*server)->run();
  return {};
}

Result<void> end_with_page(const std::string& path, bool opens_browser) {
  const bool attended = standard_output_is_terminal() && standard_error_is_terminal();
  if (!opens_browser || !attended || !browser_command()) {
    note("\n{0}: nodescope view {0}\n", printable(path));
    return {};
  }
  auto recordings = server::read_own_recording(path);
  if (!recordings) return std::unexpected(recordings.error());
  note("\n{}\n", printable(path));
  return show_page(std::move(*recordings), {});
}

}  // namespace nodescope
