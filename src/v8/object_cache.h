#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/flat_map.h"
#include "target/memory.h"

namespace nodescope::v8 {

// So many rounds what was known counts when the process has ended and there is nothing to compare it with.
constexpr std::uint64_t kRecentGenerations = 32;

// What was made of V8's objects, for as long as the objects stay what they were.  A running collector moves
// objects and puts others in their place.  So an object is known by its address and its first bytes, which
// hold its map and the pointers to its parts; in each generation they are compared once.  When the process
// has ended and there is nothing to compare with, what was true a moment ago counts.
template <typename T>
class ObjectCache {
 public:
  static constexpr std::size_t kMaxBytes = 128;

  // Made of what is at `address` now by load(), which gives an optional<T>; null if that is nothing.  Valid
  // until the next generation.
  template <typename Load>
  T* find(Memory& memory, Address address, std::size_t bytes, Load load) {
    auto& slot = entries_[address.value];
    if (slot == nullptr) slot = std::make_unique<Entry>();
    Entry& entry = *slot;
    if (entry.generation != generation_) {
      const std::size_t size = std::min(bytes, kMaxBytes);
      std::array<std::byte, kMaxBytes> now{};
      const bool readable = memory.read(address, std::span(now).first(size));
      if (!readable && entry.value && memory.is_gone()) return is_recent(entry) ? &*entry.value : nullptr;
      // What could not be made of an object may be because it was just being moved: that is tried again.
      if (!entry.value || !readable || now != entry.bytes) {
        entry.value = readable ? load() : std::nullopt;
        entry.bytes = now;
      }
      entry.generation = generation_;
    }
    return entry.value ? &*entry.value : nullptr;
  }

  // The memory may have changed.
  void begin_generation() {
    ++generation_;
    if (entries_.size() > kMaxEntries) entries_.clear();
  }

 private:
  static constexpr std::size_t kMaxEntries = 1 << 17;

  struct Entry {
    std::uint64_t generation = 0;  // when it was last compared
    std::array<std::byte, kMaxBytes> bytes{};
    std::optional<T> value;
  };

  bool is_recent(const Entry& entry) const { return generation_ - entry.generation <= kRecentGenerations; }

  std::uint64_t generation_ = 1;
  FlatMap<std::uint64_t, std::unique_ptr<Entry>> entries_;
};

}  // namespace nodescope::v8
