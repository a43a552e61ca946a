#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "source_maps/source_map.h"

namespace nodescope {

// How long each line of a text of JavaScript is, in UTF-16 units and without its end.
std::vector<std::uint32_t> line_lengths(std::string_view text);

// Where in the bytes of `text` each of `places` is, which ascend; nothing for one beyond its line.
std::vector<std::optional<std::size_t>> offsets_of(std::string_view text, std::span<const TextPlace> places);

// The place of each of `offsets`, which ascend.
std::vector<TextPlace> places_of(std::string_view text, std::span<const std::size_t> offsets);

}  // namespace nodescope
