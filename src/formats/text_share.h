#pragma once

#include <cstddef>

namespace nodescope {

// A text is taken for a format only if that explains nearly all of its lines.  One line more may be anything:
// a warning that a tool wrote between them, the line at which the text was cut.
constexpr bool explains_nearly_all(std::size_t understood, std::size_t others) {
  constexpr std::size_t kLinesPerStrangeLine = 10;
  return others <= 1 + understood / kLinesPerStrangeLine && others < understood;
}

}  // namespace nodescope
