#include "app/browser.h"

#include <cstdlib>
#include <ranges>

#include "os/process.h"
#include "os/user.h"

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

}  // namespace

std::optional<std::vector<std::string>> browser_command() {
  if (is_root() && !sudo_user()) return std::nullopt;
  if (auto words = browser_of_environment(); !words.empty() && has_program(words.front())) return words;
  const bool has_display = !environment("DISPLAY").empty() || !environment("WAYLAND_DISPLAY").empty();
  if (!has_display || !has_program("xdg-open")) return std::nullopt;
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
