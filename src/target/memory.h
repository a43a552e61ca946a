#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "binary/address.h"

namespace nodescope {

// The memory of a process, alive or dead.
class Memory {
 public:
  virtual ~Memory() = default;

  // False when any byte cannot be read; `into` is then unspecified.
  virtual bool read(Address address, std::span<std::byte> into) = 0;

  // All of `ranges` will be read soon: worth copying together where each copy is a system call.
  virtual void prefetch(std::span<const Range<Address>> ranges) { static_cast<void>(ranges); }

  // What is read from now on is what is there from now on.
  virtual void forget() {}

  // The process has ended: what was read of it shortly before is all there will ever be.
  virtual bool is_gone() const { return false; }

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  std::optional<T> load(Address address) {
    T value;
    if (!read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
    return value;
  }
};

}  // namespace nodescope
