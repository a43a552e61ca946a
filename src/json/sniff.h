#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nodescope::json {

// What the beginning of a JSON text shows of its structure, two levels deep, as paths:
//   {"nodes":[{"id":1}],"head":{"id":1},"samples":[1]}  ->  nodes, nodes[].id, head, head.id, samples,
//   samples[]#
// "[]" is the first element of an array, "#" says that it is a number.  Keys may come in any order, so a
// format is recognised by any of its paths that no other format has.
struct Outline {
  std::vector<std::string> paths;
  std::vector<std::string> texts;  // "key=value" for every text of the outermost object

  bool has(std::string_view path) const;
  bool has_text(std::string_view key, std::string_view part_of_value) const;
};

// What a profile of V8 may be wrapped in: DevTools' protocol answers {"id":3,"result":{"profile":{...}}}, and
// programs save the half of it, {"profile":{...}}.
constexpr int kMaxWrappers = 2;
constexpr bool is_wrapper(std::string_view key) {
  return key == "result" || key == "profile";
}

// The paths inside of wrappers are those of the profile.  Of a text that may be cut anywhere; empty if it is
// no JSON object or array.
Outline outline_of(std::string_view head);

}  // namespace nodescope::json
