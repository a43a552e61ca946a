#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace nodescope {

// An index into one kind of table.  Ids of different tables do not mix.
template <typename Tag>
struct Id {
  std::uint32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}
  constexpr std::size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

template <typename Tag>
std::size_t hash_value(Id<Tag> id) {
  return std::size_t{id.value} * 0x9E3779B97F4A7C15u;
}

}  // namespace nodescope

template <typename Tag>
struct std::hash<nodescope::Id<Tag>> {
  std::size_t operator()(nodescope::Id<Tag> id) const { return hash_value(id); }
};
