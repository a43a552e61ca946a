#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/profile.h"

namespace nodescope {

// Lines of a file as people read them, or every place of its own: one line of a bundle may hold a whole
// program.
enum class SourceBy : std::uint8_t { kLine, kColumn };

struct SourceLine {
  std::uint32_t line = 0;    // 0: not known
  std::uint32_t column = 0;  // 0: not known, or, by line, there are several
  std::uint64_t self = 0;
  std::uint64_t total = 0;  // a sample counts once, however often the line or place is on its stack

  bool operator==(const SourceLine&) const = default;
};

struct SourceFunction {
  std::string name;
  std::uint32_t line = 0;  // where it begins

  auto operator<=>(const SourceFunction&) const = default;
};

// What the lines of a file have; counts weights of event 0.
struct SourceFile {
  std::vector<SourceLine> lines;          // ordered
  std::vector<SourceFunction> functions;  // ordered by line
};

SourceFile derive_source(const Profile& profile, std::string_view file, SourceBy by = SourceBy::kLine);

struct SelfAndTotal {
  std::vector<std::uint64_t> self;
  std::vector<std::uint64_t> total;
};

// What groups of places have: `group_of_place` is by the lines of derive_source by column.  A source map
// makes many places one line of the original.
SelfAndTotal sum_places(const Profile& profile, std::string_view file, const std::vector<SourceLine>& places,
                        const std::vector<std::uint32_t>& group_of_place);

struct FileTotals {
  std::string path;
  std::uint64_t self = 0;
  std::uint64_t total = 0;

  bool operator==(const FileTotals&) const = default;
};

// Files of JavaScript of the application and its packages, most self first.
std::vector<FileTotals> derive_files(const Profile& profile);

}  // namespace nodescope
