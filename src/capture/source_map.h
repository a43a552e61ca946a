#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope {

// The name of the source map that a file asks for in its last lines; nothing if there is none, or if it is
// inside of the file.
std::optional<std::string> name_of_source_map(std::string_view name, std::string_view text);

// The source map inside of a file (a data: address in base64, as compilers write it).
std::optional<std::string> source_map_inside(std::string_view text);

// The paths of the files that a map names without having their texts, as `tsc` writes it: "../src/a.ts" in
// "/app/dist/a.js.map" is "/app/src/a.ts".  `name` is where the map is.
//
// A map can name any file, so only those are given that a compiler could have read for it: their names end
// like sources, they are in the folder of the map or in one that shares with it more than a folder of the
// whole machine or of all that a user has, and the way there goes through nothing hidden.
std::vector<std::string> originals_without_text(std::string_view name, std::string_view map);

}  // namespace nodescope
