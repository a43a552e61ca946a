#pragma once

#include <cstdint>
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

// The id that a file and its map have in common, if the file says it in its last lines ("//# debugId=…").
std::string debug_id_of(std::string_view text);

// How many columns @vercel/ncc has put in front of a file without changing its map, to load a module that
// reads it.
std::uint32_t added_in_front(std::string_view text);

// The id that a map says it has; empty if it has none.
std::string debug_id_of_map(std::string_view map);

// `text` up to the comment that names its map, which a deployment may have taken away.
std::string_view code_of(std::string_view text);

// The paths of the files that a map names without having their texts, as `tsc` writes it: "../src/a.ts" in
// "/app/dist/a.js.map" is "/app/src/a.ts".  `name` is where the map is.
//
// A map can name any file, so only those are given that a compiler could have read for it: their names end
// like sources, they are in the folder of the map or in one that shares with it more than a folder of the
// whole machine or of all that a user has, and the way there goes through nothing hidden.
std::vector<std::string> originals_without_text(std::string_view name, std::string_view map);

// What a map at `name` calls a source, as it is shown: the path of a file, "/app/src/a.ts" of "../src/a.ts"
// in
// "/app/dist/a.js.map", or an address without its dots: "webpack://app/src/a.ts" of
// "webpack://app/./src/a.ts".
std::string shown_source(std::string_view name, const std::string& root, const std::string& source);

// Whether a file at `path` may be what a map or generated file at `name` was made from: the rule of
// originals_without_text.
bool may_be_original(std::string_view name, std::string_view path);

// The path of its file, under the same rules as originals_without_text.
std::optional<std::string> file_of_source(std::string_view name, const std::string& root,
                                          const std::string& source);

}  // namespace nodescope
