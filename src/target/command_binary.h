#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope {

// What the kernel runs for a script: the words of its first line behind "#!".  It takes all behind the first
// as one argument, `env -S` splits it.  Empty: not a script.
std::vector<std::string> parse_interpreter_line(std::string_view begin_of_file);

// Of `env`'s arguments those from the program on that it starts.
std::span<const std::string> skip_env_options(std::span<const std::string> arguments);

// The binary that a command will run, as far as that can be told before: through the PATH, `env` and the
// first lines of scripts.  `npx` gives node.
std::optional<std::string> find_binary_of_command(std::span<const std::string> command);

}  // namespace nodescope
