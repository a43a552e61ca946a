#include "target/container.h"

#include <algorithm>

#include "base/path.h"
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

// "\t21197\t1" of "NSpid:\t21197\t1", outermost first; empty where there is no such line.
std::string_view pids_in(std::string_view status) {
  constexpr std::string_view kField = "\nNSpid:";
  const std::size_t field = status.find(kField);
  if (field == std::string_view::npos) return {};
  const std::string_view line = status.substr(field + kField.size());
  return line.substr(0, line.find('\n'));
}

}  // namespace

std::optional<pid_t> parse_innermost_pid(std::string_view status) {
  const std::string_view line = pids_in(status);
  return parse_number<pid_t>(line.substr(line.find_last_of(" \t") + 1));
}

bool is_in_inner_pid_namespace(std::string_view status) {
  return std::ranges::count(pids_in(status), '\t') > 1;
}

std::optional<std::string> parse_pod_id(std::string_view cgroup) {
  constexpr std::size_t kUidCharacters = 36;  // 8-4-4-4-12; static pods have 32 hexadecimal digits
  constexpr std::size_t kHashCharacters = 32;
  for (const std::string_view mark : {std::string_view("/pod"), std::string_view("-pod")}) {
    for (std::size_t at = cgroup.find(mark); at != std::string_view::npos; at = cgroup.find(mark, at + 1)) {
      std::string_view uid = cgroup.substr(at + mark.size());
      uid = uid.substr(0, uid.find_first_of("/.\n"));
      if (uid.size() != kUidCharacters && uid.size() != kHashCharacters) continue;
      // A slice's name has '_' in place of '-', which nests slices.
      std::string text(uid);
      std::ranges::replace(text, '_', '-');
      if (std::ranges::all_of(text, [](char c) { return is_hex(c) || c == '-'; })) return text;
    }
  }
  return std::nullopt;
}

std::vector<std::string> parse_cgroup_paths(std::string_view cgroup) {
  std::vector<std::string> paths;
  while (!cgroup.empty()) {
    const std::size_t end = std::min(cgroup.find('\n'), cgroup.size());
    std::string_view line = cgroup.substr(0, end);
    cgroup.remove_prefix(std::min(cgroup.size(), end + 1));
    // "4:memory:/path", where the path may hold colons.
    for (int i = 0; i < 2; ++i) line.remove_prefix(std::min(line.size(), line.find(':') + 1));
    if (line.size() > 1 && line.starts_with('/') && std::ranges::find(paths, line) == paths.end())
      paths.emplace_back(line);
  }
  return paths;
}

std::string container_name_in(std::string_view cgroup_path) {
  std::string_view name = file_name_of(cgroup_path);
  for (const std::string_view suffix : {std::string_view(".scope"), std::string_view(".service")}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return std::string(name);
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
