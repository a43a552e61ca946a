#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace nodescope {

// A place in one kind of address space.  Places of different spaces do not mix; arithmetic wraps, as that of
// the processor does, so no input can overflow it.
template <typename Space>
struct Place {
  std::uint64_t value = 0;

  constexpr Place() = default;
  constexpr explicit Place(std::uint64_t number) : value(number) {}
  constexpr auto operator<=>(const Place&) const = default;

  friend constexpr Place operator+(Place place, std::uint64_t bytes) { return Place{place.value + bytes}; }
  friend constexpr Place operator-(Place place, std::uint64_t bytes) { return Place{place.value - bytes}; }
  friend constexpr std::uint64_t operator-(Place end, Place begin) { return end.value - begin.value; }
};

using Address = Place<struct ProcessSpace>;       // in the memory of a process or of the kernel
using FileAddress = Place<struct ElfSpace>;       // as an ELF file counts them: st_value, p_vaddr
using FileOffset = Place<struct FileBytesSpace>;  // bytes from the beginning of a file

// From begin up to, not including, end.
template <typename P>
struct Range {
  P begin;
  P end;

  constexpr bool contains(P place) const { return begin <= place && place < end; }
  constexpr std::uint64_t size_bytes() const { return begin < end ? end - begin : 0; }
  constexpr bool operator==(const Range&) const = default;
};

}  // namespace nodescope

template <typename Space>
struct std::hash<nodescope::Place<Space>> {
  std::size_t operator()(nodescope::Place<Space> place) const { return place.value * 0x9E3779B97F4A7C15u; }
};
