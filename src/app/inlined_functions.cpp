#include "app/inlined_functions.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "os/process.h"

namespace nodescope {

namespace {

constexpr std::string_view kNothingKnown = "\?\?\n\?\?:0";

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string without_discriminator(std::string_view line) {
  std::string text(line);
  const std::size_t begin = text.find(" (discriminator ");
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find(')', begin);
  if (end != std::string::npos) text.erase(begin, end + 1 - begin);
  return text;
}

// addr2line prints a function and its place in turn, innermost first.
std::string joined(std::string_view output, bool with_places) {
  std::vector<std::string> functions;
  while (!output.empty()) {
    std::string function = without_discriminator(take_line(output));
    if (output.empty()) break;
    const std::string place = without_discriminator(take_line(output));
    functions.push_back(with_places ? function + ":" + place : function);
  }
  std::string names;
  for (auto function = functions.rbegin(); function != functions.rend(); ++function) {
    names += (names.empty() ? "" : ";") + *function;
  }
  return names;
}

}  // namespace

std::string InlinedFunctions::at(std::string_view address, std::string_view function,
                                 std::string_view module) {
  const Key key{address, module};
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_.emplace(key, find(key.first, function, key.second)).first->second;
}

std::string InlinedFunctions::find(const std::string& address, std::string_view function,
                                   const std::string& module) {
  std::string output = ask_addr2line(address, module);
  if (output.find(kNothingKnown) != std::string::npos) {
    const std::string better = address_of(function, module);
    if (!better.empty()) output = ask_addr2line(better, module);
  }
  return joined(output, with_places_);
}

std::string InlinedFunctions::ask_addr2line(const std::string& address, const std::string& module) {
  // "--exe=" and "--", so that text from the profile is never taken for an option.
  std::string output = run({"addr2line", "-i", "-f", "-s", "-C", "-a", "--exe=" + module, "--", address});
  const std::size_t first_line = output.find('\n');
  return first_line == std::string::npos ? "" : output.substr(first_line + 1);
}

std::string InlinedFunctions::address_of(std::string_view function, const std::string& module) {
  const std::size_t plus = function.rfind("+0x");
  if (plus == std::string_view::npos) return "";
  const auto offset = parse_hex(function.substr(plus + 3));
  if (!offset) return "";
  auto symbols = symbols_.find(module);
  if (symbols == symbols_.end()) symbols = symbols_.emplace(module, run({"nm", "--", module})).first;
  std::string_view rest = symbols->second;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || line.size() < space + 3) continue;
    if (line.substr(space + 3) != function.substr(0, plus)) continue;
    if (const auto base = parse_hex(line.substr(0, space))) return fmt::format("0x{:x}", *base + *offset);
  }
  return "";
}

std::string InlinedFunctions::run(const std::vector<std::string>& arguments) {
  auto output = capture_program(arguments);
  if (output) return std::move(*output);
  diagnostics_.warn("--inline needs addr2line and nm (Debian: binutils)", output.error().message);
  return "";
}

}  // namespace nodescope
