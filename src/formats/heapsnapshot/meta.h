#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nodescope {

// What a snapshot says of its own layout, in its first member.
struct SnapshotMeta {
  std::vector<std::string> node_fields;
  std::vector<std::string> node_types;
  std::vector<std::string> edge_fields;
  std::vector<std::string> edge_types;
  std::vector<std::string> location_fields;
  std::vector<std::string> trace_function_fields;
  std::vector<std::string> sample_fields;
  std::uint64_t node_count = 0;
  std::uint64_t edge_count = 0;
  std::uint64_t extra_native_bytes = 0;
  std::uint64_t root_index = 0;
};

// Of the object behind "snapshot".
Result<SnapshotMeta> parse_snapshot_meta(std::string_view text);

}  // namespace nodescope
