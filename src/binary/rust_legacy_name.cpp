#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/text.h"
#include "binary/code_point.h"
#include "binary/rust_name.h"

namespace nodescope {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// Characters that the older scheme cannot have in a symbol: "$LT$" for '<', "$u20$" for a space.
std::optional<std::uint32_t> legacy_escape(std::string_view code) {
  constexpr std::array<std::pair<std::string_view, char>, 8> kEscapes = {{{"SP", '@'},
                                                                          {"BP", '*'},
                                                                          {"RF", '&'},
                                                                          {"LT", '<'},
                                                                          {"GT", '>'},
                                                                          {"LP", '('},
                                                                          {"RP", ')'},
                                                                          {"C", ','}}};
  const auto found = std::ranges::find(kEscapes, code, &std::pair<std::string_view, char>::first);
  if (found != kEscapes.end()) return static_cast<std::uint32_t>(found->second);
  if (!code.starts_with('u') || code.size() > 7) return std::nullopt;
  const auto code_point = parse_number<std::uint32_t>(code.substr(1), 16);
  if (!code_point || *code_point < 0x20 || !is_scalar_value(*code_point)) return std::nullopt;
  return code_point;
}

void append_legacy_part(std::string& out, std::string_view part) {
  if (part.starts_with("_$")) part.remove_prefix(1);
  while (!part.empty()) {
    if (part.starts_with("..")) {
      out += "::";
      part.remove_prefix(2);
      continue;
    }
    const std::size_t end = part.starts_with('$') ? part.find('$', 1) : std::string_view::npos;
    const auto escape = end != std::string_view::npos ? legacy_escape(part.substr(1, end - 1)) : std::nullopt;
    if (escape) {
      append_utf8(out, *escape);
      part.remove_prefix(end + 1);
    } else {
      out += part.front();
      part.remove_prefix(1);
    }
  }
}

// 16 hexadecimal digits.  GNU's demangler wants five different ones, to tell a hash from a C++ name.
bool is_hash(std::string_view part) {
  if (part.size() != 17 || part[0] != 'h' || !std::ranges::all_of(part.substr(1), is_lower_hex)) return false;
  std::array<bool, 256> seen{};
  for (const char c : part.substr(1)) seen[static_cast<unsigned char>(c)] = true;
  return std::ranges::count(seen, true) >= 5;
}

}  // namespace

std::optional<std::string> demangle_rust_legacy(std::string_view name) {
  if (!name.starts_with("_ZN")) return std::nullopt;
  std::string_view rest = name.substr(3);
  std::vector<std::string_view> parts;
  while (!rest.empty() && is_digit(rest.front())) {
    std::size_t length = 0;
    for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
      length = length * 10 + static_cast<std::size_t>(rest.front() - '0');
      if (length > rest.size()) return std::nullopt;
    }
    if (length == 0 || length > rest.size()) return std::nullopt;
    parts.push_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  const bool ends = rest == "E" || rest.starts_with("E.");
  if (!ends || parts.size() < 2 || !is_hash(parts.back())) return std::nullopt;
  parts.pop_back();
  std::string out;
  for (const std::string_view part : parts) {
    if (!out.empty()) out += "::";
    append_legacy_part(out, part);
  }
  return out;
}

}  // namespace nodescope
