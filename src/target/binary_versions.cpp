#include "target/binary_versions.h"

#include <algorithm>

#include "base/byte_source.h"
#include "base/text.h"

namespace nodescope {

namespace {

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}
bool is_version_character(char character) {
  return is_digit(character) || character == '.';
}

// The characters around `at` that can belong to a version.
std::string_view version_before(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < 32 && is_version_character(text[begin - 1])) --begin;
  return text.substr(begin, at - begin);
}

std::string_view version_after(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at, 32);
  return rest.substr(
      0, static_cast<std::size_t>(std::ranges::find_if_not(rest, is_version_character) - rest.begin()));
}

std::string find_v8_version(std::string_view data) {
  constexpr std::string_view kMark = "-node.";
  for (std::size_t at = data.find(kMark); at != std::string_view::npos; at = data.find(kMark, at + 1)) {
    const std::string_view before = version_before(data, at);
    const auto numbers = parse_dotted_numbers(before);
    if (numbers && numbers->size() == 4)
      return std::string(before) + std::string(kMark) + std::string(version_after(data, at + kMark.size()));
  }
  return {};
}

// Official builds name the archive of their headers; every build has process.version between two NULs.
std::string find_node_version(std::string_view data) {
  for (const std::string_view mark : {std::string_view("/node-v"), std::string_view("\0v", 2)}) {
    const std::string_view end =
        mark[0] == '\0' ? std::string_view("\0", 1) : std::string_view("-headers.tar");
    for (std::size_t at = data.find(mark); at != std::string_view::npos; at = data.find(mark, at + 1)) {
      const std::string_view version = version_after(data, at + mark.size());
      const auto numbers = parse_dotted_numbers(version);
      if (numbers && numbers->size() == 3 && data.substr(at + mark.size() + version.size()).starts_with(end))
        return std::string(version);
    }
  }
  return {};
}

}  // namespace

std::optional<std::vector<int>> parse_dotted_numbers(std::string_view text) {
  std::vector<int> numbers;
  for (;;) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    const auto number = parse_number<int>(text.substr(0, dot));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    if (dot == text.size()) return numbers;
    text.remove_prefix(dot + 1);
  }
}

// Both are among the constants: a tenth of what the segments hold, code, snapshot and ICU's data included.
BinaryVersions read_versions(const ElfFile& file) {
  BinaryVersions versions;
  const auto look_in = [&](std::string_view data) {
    if (versions.v8.empty()) versions.v8 = find_v8_version(data);
    if (versions.node.empty()) versions.node = find_node_version(data);
  };
  if (const auto constants = file.find_section(".rodata")) look_in(as_text(file.content(*constants)));
  for (const ElfSegment& segment : file.loads()) {
    if (!versions.v8.empty() && !versions.node.empty()) break;
    look_in(as_text(file.content(segment)));
  }
  return versions;
}

}  // namespace nodescope
