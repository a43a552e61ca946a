#include "formats/heapsnapshot/meta.h"

#include <algorithm>

#include "json/reader.h"

namespace nodescope {

namespace {

// More would be no layout of a record but an attempt on our memory.
constexpr std::size_t kMostNames = 256;

std::vector<std::string> read_names(json::Reader& reader) {
  std::vector<std::string> names;
  auto elements = reader.array();
  while (elements.next()) {
    if (reader.peek() != json::Type::kString) {
      reader.skip();
    } else if (const auto name = reader.string(); name && names.size() < kMostNames) {
      names.emplace_back(*name);
    }
  }
  return names;
}

// The list of names within ["…", ["hidden", "array"], "string"]: only one field has such a list.
std::vector<std::string> read_types(json::Reader& reader) {
  std::vector<std::string> names;
  auto elements = reader.array();
  while (elements.next()) {
    if (reader.peek() == json::Type::kArray && names.empty()) {
      names = read_names(reader);
    } else {
      reader.skip();
    }
  }
  return names;
}

void read_layout(json::Reader& reader, SnapshotMeta& meta) {
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "node_fields") {
      meta.node_fields = read_names(reader);
    } else if (*key == "node_types") {
      meta.node_types = read_types(reader);
    } else if (*key == "edge_fields") {
      meta.edge_fields = read_names(reader);
    } else if (*key == "edge_types") {
      meta.edge_types = read_types(reader);
    } else if (*key == "location_fields") {
      meta.location_fields = read_names(reader);
    } else if (*key == "trace_function_info_fields") {
      meta.trace_function_fields = read_names(reader);
    } else if (*key == "sample_fields") {
      meta.sample_fields = read_names(reader);
    }
  }
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

Result<SnapshotMeta> parse_snapshot_meta(std::string_view text) {
  MemorySource source(text, "snapshot");
  json::Reader reader(source);
  SnapshotMeta meta;
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "meta") {
      read_layout(reader, meta);
    } else if (*key == "node_count" || *key == "edge_count" || *key == "extra_native_bytes" ||
               *key == "root_index") {
      std::uint64_t& value = *key == "node_count"   ? meta.node_count
                             : *key == "edge_count" ? meta.edge_count
                             : *key == "root_index" ? meta.root_index
                                                    : meta.extra_native_bytes;
      if (const auto number = reader.number()) value = number->as_count();
    }
  }
  for (const char* field : {"type", "name", "id", "self_size", "edge_count"}) {
    if (!has(meta.node_fields, field))
      return fail(ErrorCode::kInvalidInput, std::string("the nodes have no field ") + field);
  }
  for (const char* field : {"type", "name_or_index", "to_node"}) {
    if (!has(meta.edge_fields, field))
      return fail(ErrorCode::kInvalidInput, std::string("the edges have no field ") + field);
  }
  return meta;
}

}  // namespace nodescope
