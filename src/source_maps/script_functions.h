#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope {

enum class Naming : std::uint8_t {
  kNamed,
  kAnonymous,  // as what a call is given
  kUnknown,    // it may have a name that the text around it does not show
};

// The head of a function in a text of JavaScript or TypeScript, up to its first parameter: what a place at
// its beginning can be in.
struct ScriptFunction {
  std::size_t begin = 0;    // of its modifiers, or of what it is assigned to
  std::size_t keyword = 0;  // where the function itself begins, without that
  std::size_t parameters =
      0;  // the "(", or the one parameter of an arrow; a class without a constructor: "class"
  std::size_t first_parameter = 0;  // the token after that
  std::string name;
  Naming naming = Naming::kUnknown;

  bool operator==(const ScriptFunction&) const = default;
};

// Everything in `text` that looks like the head of a function, in its order.  There may be too many: a place
// at one that is known to be the beginning of a function is what makes it one.
class ScriptFunctions {
 public:
  explicit ScriptFunctions(std::string_view text);

  // The innermost one whose head holds `offset`; null if there is none.
  const ScriptFunction* find(std::size_t offset) const;
  const std::vector<ScriptFunction>& all() const { return functions_; }

 private:
  std::vector<ScriptFunction> functions_;
};

}  // namespace nodescope
