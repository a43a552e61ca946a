#include "target/container.h"

#include <algorithm>

#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::size_t kIdDigits = 64;

bool is_hex(char character) {
  return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
}

// The run of exactly 64 hexadecimal digits in "docker-<id>.scope", "libpod-<id>", "<id>".
std::optional<std::string> id_in(std::string_view component) {
  for (std::size_t begin = 0; begin < component.size();) {
    const auto rest = component.substr(begin);
    const std::size_t digits =
        static_cast<std::size_t>(std::ranges::find_if_not(rest, is_hex) - rest.begin());
    if (digits == kIdDigits) return std::string(rest.substr(0, digits));
    begin += digits + 1;
  }
  return std::nullopt;
}

}  // namespace

std::optional<pid_t> parse_innermost_pid(std::string_view status) {
  constexpr std::string_view kField = "\nNSpid:";
  const std::size_t field = status.find(kField);
  if (field == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(field + kField.size());
  line = line.substr(0, line.find('\n'));
  return parse_number<pid_t>(line.substr(line.find_last_of(" \t") + 1));
}

std::optional<std::string> parse_container_id(std::string_view cgroup) {
  std::optional<std::string> id;
  while (!cgroup.empty()) {
    const std::size_t end = std::min(cgroup.find_first_of("/\n"), cgroup.size());
    if (auto found = id_in(cgroup.substr(0, end))) id = std::move(found);
    cgroup.remove_prefix(std::min(cgroup.size(), end + 1));
  }
  return id;
}

}  // namespace nodescope
