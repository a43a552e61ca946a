#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "source_maps/script_functions.h"
#include "source_maps/source_map.h"

namespace nodescope {

// A place in generated code that is to be led to its source: where a function is, and where in it.
struct GeneratedPlace {
  TextPlace place;        // a column of 0: not known
  TextPlace function;     // where the function begins; a line of 0: not known
  bool is_begin = false;  // `place` is where the function begins; otherwise the text tells

  bool operator==(const GeneratedPlace&) const = default;
};

struct OriginalPlace {
  std::uint32_t source = 0;
  TextPlace place;     // a line of 0: not known
  TextPlace function;  // likewise
  std::string name;    // of the function
  Naming naming = Naming::kUnknown;
  bool is_top_level = false;  // the code of a module itself
};

struct FileMapping {
  std::vector<std::optional<OriginalPlace>> places;  // in the order of the questions
  std::string problem;  // not empty: the map does not fit, and nothing was mapped
};

// The text of a source that the map itself does not have.
using ReadOriginal = std::function<std::optional<std::string>(const std::string& path)>;

// Leads places of one generated file to their sources.  `text` is that file's; null if it is not at hand, and
// then no name is taken from a source.
FileMapping map_places(const SourceMap& map, const std::string* text, std::span<const GeneratedPlace> places,
                       const ReadOriginal& read_original);

}  // namespace nodescope
