#include "app/browser.h"

#include <cstdlib>
#include <ranges>

#include "os/process.h"
#include "os/procfs.h"
#include "os/user.h"
#include "target/invocation.h"

namespace nodescope {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

// $BROWSER is a list of commands like PATH; the first is taken, as words.
std::vector<std::string> browser_of_environment() {
  const std::string_view all = environment("BROWSER");
  std::vector<std::string> words;
  for (const auto word : std::views::split(all.substr(0, all.find(':')), ' ')) {
    if (!word.empty()) words.emplace_back(word.begin(), word.end());
  }
  return words;
}

bool has_display() {
  if (!environment("WAYLAND_DISPLAY").empty()) return true;
  const std::string_view display = environment("DISPLAY");
  const bool is_forwarded = display.starts_with("localhost:") && is_remote_session();
  return !display.empty() && !is_forwarded;
}

std::optional<ProcessStat> stat_of(pid_t pid) {
  const auto text = read_proc_file(pid, "stat");
  return text ? parse_process_stat(*text) : std::nullopt;
}

}  // namespace

bool is_remote_session() {
  if (!environment("SSH_CONNECTION").empty() || !environment("SSH_TTY").empty()) return true;
  constexpr int kMaxAncestors = 64;
  auto process = stat_of(own_pid());
  for (int i = 0; i < kMaxAncestors && process && process->parent > 1; ++i) {
    process = stat_of(process->parent);
    // "sshd-session" since OpenSSH 9.8.
    if (process && (process->name.starts_with("sshd") || process->name == "mosh-server")) return true;
  }
  return false;
}

std::optional<std::vector<std::string>> browser_command() {
  if (is_root() && !sudo_user()) return std::nullopt;
  if (auto words = browser_of_environment(); !words.empty() && has_program(words.front())) return words;
  if (!has_display() || !has_program("xdg-open")) return std::nullopt;
  return std::vector<std::string>{"xdg-open"};
}

std::vector<std::string> with_address(std::vector<std::string> command, std::string_view address) {
  bool has_place = false;
  for (std::string& word : command) {
    const std::size_t place = word.find("%s");
    if (place == std::string::npos) continue;
    word.replace(place, 2, address);
    has_place = true;
  }
  if (!has_place) command.emplace_back(address);
  return command;
}

}  // namespace nodescope
