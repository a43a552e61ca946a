#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace nodescope {

// Help in our own shape: usage, what it is for, examples first, then the options in groups.
void use_readable_help(CLI::App& app);

// The option refuses numbers outside; its help says in words what makes sense.
void limit(CLI::Option& option, double least, double most);

// "-o, --output FILE"
std::string option_names(const CLI::Option& option);

}  // namespace nodescope
