#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "json/reader.h"

namespace nodescope::firefox {

// A table as the Firefox Profiler has it: columns of numbers by name, of which any may be null.
class Columns {
 public:
  // Reads the next value, an object.  Columns in `scaled` get `decimals` more: milliseconds become
  // nanoseconds.
  void read(json::Reader& reader, std::string_view scaled = {}, int decimals = 0);
  // The same of one column whose key was read.
  void read_column(json::Reader& reader, std::string_view key, int decimals);

  std::size_t length() const { return length_; }
  bool has(std::string_view column) const { return columns_.contains(column); }
  // Nothing for null and where there is no such row or column.
  std::optional<std::int64_t> at(std::string_view column, std::size_t row) const;
  // The same as a row of a table of `size` rows.
  std::optional<std::size_t> index_at(std::string_view column, std::size_t row, std::size_t size) const;
  std::uint32_t place_at(std::string_view column, std::size_t row) const;

 private:
  FlatMap<std::string, std::vector<std::int64_t>> columns_;
  std::size_t length_ = 0;  // of the longest
};

}  // namespace nodescope::firefox
