#include "target/command_binary.h"

#include <algorithm>
#include <array>

#include "os/file.h"
#include "os/process.h"

namespace nodescope {

namespace {

// The kernel looks at this many bytes of a file (BINPRM_BUF_SIZE) and through this many scripts.
constexpr std::size_t kHeadBytes = 256;
constexpr int kMaxScripts = 5;

std::string read_head(const std::string& path) {
  auto source = HostFiles().open(path);
  if (!source || !(*source)->size()) return {};
  std::array<char, kHeadBytes> head{};
  const auto count = (*source)->read_at(0, std::as_writable_bytes(std::span(head)));
  return count ? std::string(head.data(), *count) : std::string();
}

bool is_env(std::string_view program) {
  return program == "env" || program.ends_with("/env");
}

}  // namespace

std::vector<std::string> parse_interpreter_line(std::string_view begin_of_file) {
  constexpr std::string_view kBlanks = " \t\r";
  if (!begin_of_file.starts_with("#!")) return {};
  std::string_view line = begin_of_file.substr(2, begin_of_file.find('\n') - 2);
  std::vector<std::string> words;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) return words;
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

std::span<const std::string> skip_env_options(std::span<const std::string> arguments) {
  while (!arguments.empty() && (arguments[0].starts_with('-') || arguments[0].contains('=')))
    arguments = arguments.subspan(1);
  return arguments;
}

std::optional<std::string> find_binary_of_command(std::span<const std::string> command) {
  std::vector<std::string> words;
  for (int scripts = 0; scripts <= kMaxScripts && !command.empty(); ++scripts) {
    if (is_env(command[0])) command = skip_env_options(command.subspan(1));
    const auto path = command.empty() ? std::nullopt : find_program(command[0]);
    if (!path) return std::nullopt;
    auto interpreter = parse_interpreter_line(read_head(*path));
    if (interpreter.empty()) return path;
    words = std::move(interpreter);
    command = words;
  }
  return std::nullopt;
}

}  // namespace nodescope
