#include <string_view>

#include "base/check.h"
#include "source_maps/file_mapping.h"
#include "source_maps/map_location.h"
#include "source_maps/source_map.h"
#include "source_maps/source_names.h"

namespace {

using namespace nodescope;

void find_locations(std::string_view text) {
  name_of_source_map("/srv/app/dist/a.js", text);
  debug_id_of(text);
  debug_id_of_map(text);
  NODESCOPE_CHECK(code_of(text).size() <= text.size());
  if (const auto inside = source_map_inside(text)) originals_without_text("/srv/app/dist/a.js", *inside);
  for (const std::string& path : originals_without_text("/srv/app/dist/a.js.map", text)) {
    NODESCOPE_CHECK(path.starts_with("/srv/app/") && ends_like_original(path));
    NODESCOPE_CHECK(!path.contains("/../") && !path.contains("/.") && !path.contains('\0'));
  }
}

// The generated file precedes its map, behind a NUL.
void map_a_file(std::string_view text) {
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) return;
  const auto map = SourceMap::parse(std::string(text.substr(end + 1)), "/srv/app/dist/a.js.map");
  if (!map) return;
  const std::string generated(text.substr(0, end));
  std::vector<GeneratedPlace> wanted;
  for (std::uint32_t column = 1; column < 200; column += 3)
    wanted.push_back({{1 + column % 7, column}, {1 + column % 5, column / 2}, column % 2 == 0});
  const auto nothing = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
  for (const std::string* file : {&generated, static_cast<const std::string*>(nullptr)}) {
    const FileMapping mapping = map_places(*map, file, wanted, nothing);
    NODESCOPE_CHECK(mapping.places.size() == wanted.size());
    for (const auto& place : mapping.places) {
      if (!place) continue;
      NODESCOPE_CHECK(mapping.problem.empty() && place->source < map->source_count());
      map->source(place->source);
      const auto path = map->source_file(place->source);
      NODESCOPE_CHECK(!path || (path->starts_with("/srv/app/") && !path->contains("/../")));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  find_locations(text);
  map_a_file(text);
  return 0;
}
