#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nodescope::recording {

// What the ids of one table of the file stand for in the profile.  Ids are dense from 0, except where the
// chunk that defined some of them was lost.
template <typename T>
class IdTable {
 public:
  IdTable() : parts_(1) {}

  void clear() {
    parts_.resize(1);
    parts_.front().values.clear();
  }

  std::uint64_t size() const {
    std::uint64_t total = 0;
    for (const Part& part : parts_) total += part.values.size();
    return total;
  }

  // Makes `first` the next id; false if that one is defined already.
  bool resume_at(std::uint64_t first) {
    const std::uint64_t end = parts_.back().first + parts_.back().values.size();
    if (first > end) parts_.push_back({first, {}});
    return first >= end;
  }

  void add(T value) { parts_.back().values.push_back(value); }

  // Null for an id whose definition is not in the file.
  const T* find(std::uint64_t id) const {
    const std::vector<T>& dense = parts_.front().values;
    if (id < dense.size()) [[likely]]
      return &dense[static_cast<std::size_t>(id)];
    return find_behind_hole(id);
  }

 private:
  struct Part {
    std::uint64_t first = 0;
    std::vector<T> values;
  };

  const T* find_behind_hole(std::uint64_t id) const {
    const auto after = std::ranges::upper_bound(parts_, id, {}, &Part::first);
    const Part& part = *std::prev(after);  // the first part begins at 0
    return id - part.first < part.values.size() ? &part.values[static_cast<std::size_t>(id - part.first)]
                                                : nullptr;
  }

  std::vector<Part> parts_;
};

}  // namespace nodescope::recording
