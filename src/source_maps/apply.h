#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// The fact of a profile that says what was mapped, and what it says if the user did not want that.
inline constexpr std::string_view kSourceMapsFact = "source maps";
inline constexpr std::string_view kSourceMapsOff = "not applied";

struct FoundMap {
  std::string text;
  std::string name;                           // its path or address: sources are relative to it
  std::optional<std::string> generated = {};  // the text of the file, where it came with the map
};

// Where maps and texts come from that are not in the profile.  Either may be empty.
struct MapSources {
  // The file of a name that a frame or a map gives, of at most `limit` bytes.
  std::function<Result<std::string>(const std::string& name, std::uint64_t limit)> read;
  // The map of a file that has none by itself; `text` is null where the file is not at hand.
  std::function<std::optional<FoundMap>(const std::string& file, const std::string* text)> find_elsewhere;
  // Whether the texts of sources become part of the profile, for a page that shows them.  Those of maps that
  // are in the profile always do.
  bool keeps_texts = false;
};

// Leads every JavaScript frame whose file has a source map to its source: function, file, line and column are
// the source's then, and `generated` says where it ran.  Frames that were led there before stay.  The
// diagnostics tell which maps were applied and which were not, and why.
void apply_source_maps(Profile& profile, const MapSources& sources);

}  // namespace nodescope
