#include "analysis/file_match.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "analysis/code_origin.h"

namespace nodescope {

namespace {

// Deeper folders do not help to tell files apart, and a hostile path has many.
constexpr std::size_t kMaxTail = 32;

bool is_separator(char c) {
  return c == '/' || c == '\\';
}

bool is_hash(std::string_view word) {
  const auto all = [&](auto test) { return std::ranges::all_of(word, test); };
  const auto any = [&](auto test) { return std::ranges::any_of(word, test); };
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (word.size() >= 6 && all([](unsigned char c) { return std::isxdigit(c) != 0; })) return any(digit);
  // esbuild and Vite write eight characters of base 32 or 64.
  const auto upper = [](unsigned char c) { return std::isupper(c) != 0; };
  return word.size() == 8 && all([](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }) &&
         (any(digit) || any(upper));
}

// "main-4f3a2b1c.js" and "main.4f3a2b1c.js" as "main.js".
std::string without_hash(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::string(name);
  const std::size_t mark = name.find_last_of(".-", dot - 1);
  if (mark == std::string_view::npos || mark == 0 || !is_hash(name.substr(mark + 1, dot - mark - 1)))
    return std::string(name);
  return std::string(name.substr(0, mark)) + std::string(name.substr(dot));
}

// What is left when the last `count` parts of the path are kept: "lib/rows.js" of 2.  Nothing where the path
// has fewer.
std::optional<std::string> tail_of(std::string_view path, std::size_t count) {
  std::size_t begin = path.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (begin == 0) return std::nullopt;
    std::size_t at = begin - 1;
    while (at > 0 && !is_separator(path[at - 1])) --at;
    begin = i + 1 < count && at > 0 ? at - 1 : at;
  }
  std::string_view tail = path.substr(begin);
  const std::size_t slash = tail.find_last_of("/\\");
  const std::size_t name = slash == std::string_view::npos ? 0 : slash + 1;
  return std::string(tail.substr(0, name)) + without_hash(tail.substr(name));
}

std::string_view inside_packages(std::string_view path) {
  constexpr std::string_view kFolder = "node_modules/";
  return path.substr(path.rfind(kFolder) + kFolder.size());
}

// The files of each side that have a key.
struct Sides {
  std::vector<std::string_view> before;
  std::vector<std::string_view> after;
};

class FileMatcher {
 public:
  FileMatcher(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after) {
    FlatSet<std::string_view> there(after.begin(), after.end());
    for (const std::string_view path : before) {
      if (path.empty()) continue;
      if (there.contains(path)) {
        add(path, path);
      } else {
        before_.push_back(path);
      }
    }
    for (const std::string_view path : after) {
      if (!path.empty() && !taken_.contains(path)) after_.push_back(path);
    }
    for (std::vector<std::string_view>* side : {&before_, &after_}) {
      std::ranges::sort(*side);
      const auto repeated = std::ranges::unique(*side);
      side->erase(repeated.begin(), repeated.end());
    }
  }

  FileMatch run() {
    match_by(
        [](std::string_view path) -> std::optional<std::string> {
          if (package_of_file(path).empty()) return std::nullopt;
          return std::string(inside_packages(path));
        },
        true);
    for (std::size_t count = kMaxTail; count > 0 && !before_.empty() && !after_.empty(); --count) {
      match_by(
          [count](std::string_view path) -> std::optional<std::string> {
            if (!package_of_file(path).empty()) return std::nullopt;
            return tail_of(path, count);
          },
          false);
    }
    return std::move(match_);
  }

 private:
  void add(std::string_view before, std::string_view after) {
    match_.emplace(before, after);
    taken_.insert(after);
  }

  // Matches files with one key.  Where there are several of one key, in the order of their paths, or not at
  // all.
  void match_by(const auto& key_of, bool several) {
    FlatMap<std::string, Sides> by_key;
    for (const std::string_view path : before_) {
      if (const auto key = key_of(path)) by_key[*key].before.push_back(path);
    }
    for (const std::string_view path : after_) {
      if (const auto key = key_of(path)) by_key[*key].after.push_back(path);
    }
    for (const auto& [key, sides] : by_key) {
      const std::size_t count = std::min(sides.before.size(), sides.after.size());
      if (!several && (sides.before.size() != 1 || sides.after.size() != 1)) continue;
      for (std::size_t i = 0; i < count; ++i) add(sides.before[i], sides.after[i]);
    }
    std::erase_if(before_, [&](std::string_view path) { return match_.contains(path); });
    std::erase_if(after_, [&](std::string_view path) { return taken_.contains(path); });
  }

  std::vector<std::string_view> before_;  // without a partner so far
  std::vector<std::string_view> after_;
  FlatMap<std::string_view, std::string_view> match_;
  FlatSet<std::string_view> taken_;
};

}  // namespace

FileMatch match_files(const std::vector<std::string_view>& before,
                      const std::vector<std::string_view>& after) {
  return FileMatcher(before, after).run();
}

}  // namespace nodescope
