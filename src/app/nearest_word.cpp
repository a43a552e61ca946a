#include "app/nearest_word.h"

#include <algorithm>
#include <vector>

namespace nodescope {

namespace {

constexpr std::size_t kMaxLetters = 32;  // more is no command
constexpr std::size_t kMaxDistance = 2;

// Optimal string alignment.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  }
  return edits[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(std::string_view typed, std::span<const std::string> words) {
  if (typed.size() > kMaxLetters) return {};
  const std::string* nearest = nullptr;
  std::size_t least = kMaxDistance + 1;
  for (const std::string& word : words) {
    const bool begins = typed.size() >= 2 && word.starts_with(typed);
    const std::size_t far = begins ? 1 : distance(typed, word);
    // A short word is another one when two of its letters are.
    if (far >= least || far >= word.size() - (word.empty() ? 0 : 1)) continue;
    least = far;
    nearest = &word;
  }
  return nearest != nullptr ? *nearest : std::string();
}

}  // namespace nodescope
