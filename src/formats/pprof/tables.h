#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/flat_map.h"
#include "formats/pprof/messages.h"

namespace nodescope::pprof {

// Places of things that pprof calls by an id of its own choice.  Mostly 1, 2, 3, …, sometimes addresses.
class IdIndex {
 public:
  // False if the id is taken.
  bool add(std::uint64_t id, std::uint32_t place);
  std::optional<std::uint32_t> find(std::uint64_t id) const;

 private:
  std::vector<std::uint32_t> in_order_;  // the place of id i + 1
  FlatMap<std::uint64_t, std::uint32_t> others_;
};

struct ValueType {
  std::uint64_t type = 0;
  std::uint64_t unit = 0;
};

struct FunctionEntry {
  std::uint64_t name = 0;
  std::uint64_t system_name = 0;
  std::uint64_t file = 0;
  std::uint64_t start_line = 0;
};

struct MappingEntry {
  std::uint64_t start = 0;
  std::uint64_t limit = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t file = 0;
  std::uint64_t build_id = 0;
};

struct LineEntry {
  std::uint64_t function_id = 0;
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};

struct LocationEntry {
  std::uint64_t mapping_id = 0;
  std::uint64_t address = 0;
  std::size_t first_line = 0;
  std::size_t line_count = 0;
};

// Everything of a pprof file but its samples.  Strings and views are those of the file.
struct Tables {
  std::vector<std::string_view> strings;
  std::vector<ValueType> sample_types;
  std::vector<MappingEntry> mappings;
  std::vector<FunctionEntry> functions;
  std::vector<LocationEntry> locations;
  std::vector<LineEntry> lines;
  IdIndex mapping_ids;
  IdIndex function_ids;
  IdIndex location_ids;
  std::vector<std::uint64_t> comments;
  std::uint64_t drop_frames = 0;
  std::uint64_t keep_frames = 0;
  std::uint64_t doc_url = 0;
  std::uint64_t default_sample_type = 0;
  std::int64_t time_nanos = 0;
  std::int64_t duration_nanos = 0;
  ValueType period_type;
  std::int64_t period = 0;
  std::size_t sample_count = 0;
  // Where the file stops making sense; its size if nowhere.
  std::size_t readable_bytes = 0;

  // Empty, and counted, if there is no such string.
  std::string_view text(std::uint64_t index, Diagnostics& diagnostics) const;
};

Tables parse_tables(std::string_view file, Diagnostics& diagnostics);

}  // namespace nodescope::pprof
