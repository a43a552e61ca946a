#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "target/memory.h"

namespace nodescope {

// The memory of a process of which one part, a stack, is known as it was earlier.
class SnapshotMemory final : public Memory {
 public:
  explicit SnapshotMemory(Memory& now) : now_(now) {}

  // Borrows `bytes` until the next call.
  void set_snapshot(Address begin, std::span<const std::byte> bytes) {
    begin_ = begin;
    bytes_ = bytes;
  }
  void clear_snapshot() { bytes_ = {}; }

  bool read(Address address, std::span<std::byte> into) override {
    if (address < begin_ || address.value - begin_.value >= bytes_.size()) return now_.read(address, into);
    const std::size_t offset = address.value - begin_.value;
    if (into.size() > bytes_.size() - offset) return false;
    std::ranges::copy(bytes_.subspan(offset, into.size()), into.begin());
    return true;
  }

  bool is_gone() const override { return now_.is_gone(); }

 private:
  Memory& now_;
  Address begin_;
  std::span<const std::byte> bytes_;
};

}  // namespace nodescope
