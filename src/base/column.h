#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace nodescope {

// Leaves new elements as they are: a column of a gigabyte that is about to be filled is not cleared first,
// and pages that nobody writes to take no memory.
template <typename T>
class UnclearedAllocator : public std::allocator<T> {
 public:
  template <typename U>
  struct rebind {  // NOLINT(readability-identifier-naming): the name that the standard asks for
    using other = UnclearedAllocator<U>;
  };

  UnclearedAllocator() = default;
  template <typename U>
  UnclearedAllocator(const UnclearedAllocator<U>&) {}

  template <typename U>
  void construct(U* place) {
    static_assert(std::is_trivially_default_constructible_v<U>);
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

// One number for each row of a large table.  resize() does not clear what it adds.
template <typename T>
using Column = std::vector<T, UnclearedAllocator<T>>;

}  // namespace nodescope
