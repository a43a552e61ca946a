#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace nodescope {

struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  auto operator<=>(const Place&) const = default;
};

// What functions that are surely the same tell about two versions of a file.
class FileLandmarks {
 public:
  FileLandmarks() = default;
  // `known` holds the places of such functions in both versions.  Those that another one has passed are left
  // out.
  explicit FileLandmarks(std::vector<std::pair<Place, Place>> known);

  bool empty() const { return known_.empty(); }
  // Where what stood at a place of the first version stands in the second, judged by the nearest landmark.
  Place moved(Place before) const;
  // Between which landmarks a place lies: 0 before the first.
  std::size_t stretch_before(Place before) const;
  std::size_t stretch_after(Place after) const;

 private:
  std::vector<std::pair<Place, Place>> known_;  // ascending on both sides
};

// Functions with one name in both versions of a file, in the order in which they stand there, matched in that
// order within each stretch between two landmarks: first those that stand where the landmarks say, then what
// lies between two of these, all of it where both sides have as many, else whatever is nearest.
std::vector<std::pair<std::size_t, std::size_t>> match_places(std::span<const Place> before,
                                                              std::span<const Place> after,
                                                              const FileLandmarks& landmarks);

// By how many lines most of the places have moved; nothing where none has a partner in its own column.
std::optional<std::int64_t> likely_line_shift(std::span<const Place> before, std::span<const Place> after);

}  // namespace nodescope
