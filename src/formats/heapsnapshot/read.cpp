#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "formats/heapsnapshot/columns.h"
#include "formats/heapsnapshot/heapsnapshot.h"
#include "formats/heapsnapshot/meta.h"
#include "formats/heapsnapshot/strings.h"
#include "formats/heapsnapshot/trace_tree.h"

namespace nodescope {

namespace {

// The header of a snapshot has 2 KB.
constexpr std::size_t kLongestHeader = std::size_t{16} * 1024 * 1024;
constexpr std::size_t kLongestKey = 256;

// Records of a few numbers, taken in order.
class Records final : public IntegerSink {
 public:
  Records(std::size_t fields, std::function<void(std::span<const std::uint64_t>)> each)
      : record_(fields), each_(std::move(each)) {}

  void store(std::uint64_t first, std::span<const std::uint64_t> values) override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t field = (first + i) % record_.size();
      record_[field] = values[i];
      if (field + 1 == record_.size()) each_(record_);
    }
  }

 private:
  std::vector<std::uint64_t> record_;
  std::function<void(std::span<const std::uint64_t>)> each_;
};

// Where `names` are among `fields`; a field that is missing is beyond the end.
template <std::size_t kCount>
std::array<std::size_t, kCount> positions_of(const std::array<std::string_view, kCount>& names,
                                             const std::vector<std::string>& fields) {
  std::array<std::size_t, kCount> positions{};
  for (std::size_t i = 0; i < kCount; ++i)
    positions[i] = static_cast<std::size_t>(std::ranges::find(fields, names[i]) - fields.begin());
  return positions;
}

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}

class SnapshotReader {
 public:
  SnapshotReader(ByteSource& source, const ReadOptions& options)
      : source_(source), window_(source, options.progress), jobs_(options.threads), in_order_(1) {}

  Result<HeapGraph> read();

 private:
  using Section = Result<void> (SnapshotReader::*)();

  Result<std::string> read_key();
  Result<void> read_section(std::string_view key);
  Result<void> skip_value();
  Result<std::string> take_object();

  Result<void> read_header();
  Result<void> read_nodes();
  Result<void> read_edges();
  Result<void> read_locations();
  Result<void> read_trace_functions();
  Result<void> read_trace_tree();
  Result<void> read_samples();
  Result<void> read_texts();
  Result<void> read_records(const std::vector<std::string>& fields,
                            std::function<void(std::span<const std::uint64_t>)> each);
  Result<void> finish();

  ByteSource& source_;
  TextWindow window_;
  JobQueue jobs_;
  JobQueue in_order_;
  SnapshotMeta meta_;
  HeapGraph graph_;
  bool have_header_ = false;
  bool have_nodes_ = false;
  bool have_edges_ = false;
  bool have_strings_ = false;
};

Result<std::string> SnapshotReader::read_key() {
  if (!window_.take('"'))
    return fail(ErrorCode::kInvalidInput, fmt::format("no key at byte {}", window_.offset()));
  std::size_t end = window_.view().find('"');
  while (end == std::string_view::npos && window_.view().size() < kLongestKey && window_.more())
    end = window_.view().find('"');
  if (end > kLongestKey)  // also where there is none
    return fail(ErrorCode::kInvalidInput, fmt::format("no key at byte {}", window_.offset()));
  std::string key(window_.view().substr(0, end));
  window_.consume(end + 1);
  if (!window_.take(':'))
    return fail(ErrorCode::kInvalidInput, fmt::format("no colon at byte {}", window_.offset()));
  return key;
}

// The text of a value, or nothing but its end where it is not wanted: brackets are counted outside of texts.
Result<void> SnapshotReader::skip_value() {
  std::size_t depth = 0;
  bool in_text = false;
  while (true) {
    if (window_.view().empty() && !window_.more())
      return fail(ErrorCode::kInvalidInput, "the file ends in it");
    const char c = window_.view().front();
    if (in_text) {
      if (c == '\\') window_.consume(1);
      if (window_.view().empty() && !window_.more()) continue;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']' || c == ',') {
      if (depth == 0) return {};
      if (c != ',') --depth;
    }
    window_.consume(1);
  }
}

Result<std::string> SnapshotReader::take_object() {
  if (window_.peek() != '{')
    return fail(ErrorCode::kInvalidInput, fmt::format("no object at byte {}", window_.offset()));
  std::string text;
  std::size_t depth = 0;
  bool in_text = false;
  bool escaped = false;
  do {
    if (window_.view().empty() && !window_.more())
      return fail(ErrorCode::kInvalidInput, "the file ends in it");
    if (text.size() >= kLongestHeader) return fail(ErrorCode::kLimit, "it has more than 16 MB");
    const char c = window_.view().front();
    window_.consume(1);
    text += c;
    if (in_text) {
      in_text = escaped || c != '"';
      escaped = !escaped && c == '\\';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  } while (depth != 0);
  return text;
}

Result<void> SnapshotReader::read_header() {
  auto text = take_object();
  if (!text) return std::unexpected(std::move(text.error()));
  auto meta = parse_snapshot_meta(*text);
  if (!meta) return std::unexpected(std::move(meta.error()));
  meta_ = std::move(*meta);
  // Every number takes a digit and a comma.
  const std::uint64_t numbers = source_.size().value_or(std::uint64_t{1} << 40) / 2;
  if (meta_.node_count >= HeapGraph::kNone || meta_.edge_count >= HeapGraph::kNone)
    return fail(ErrorCode::kLimit, "more than 4,294,967,294 nodes or edges");
  if (meta_.node_count > numbers / meta_.node_fields.size() ||
      meta_.edge_count > numbers / meta_.edge_fields.size())
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} nodes and {} edges do not fit into a file of this size", meta_.node_count,
                            meta_.edge_count));
  graph_.extra_native_bytes = meta_.extra_native_bytes;
  graph_.root = node_of_index(meta_.root_index, meta_.node_fields.size(), meta_.node_count);
  if (graph_.root == HeapGraph::kNone) return fail(ErrorCode::kInvalidInput, "the root is no node");
  have_header_ = true;
  return {};
}

Result<void> SnapshotReader::read_nodes() {
  if (!have_header_ || have_nodes_) return fail(ErrorCode::kInvalidInput, "not where V8 writes them");
  NodeColumns columns(meta_, graph_);
  const auto count = read_integers(window_, jobs_, columns);
  if (!count) return std::unexpected(count.error());
  have_nodes_ = true;
  if (auto finished = columns.finish(*count); !finished) return finished;
  // What the nodes add up to may be more than the header has promised to fit.
  if (graph_.edge_begins.back() != meta_.edge_count)
    return fail(ErrorCode::kInvalidInput, fmt::format("the nodes have {} edges, and the header says {}",
                                                      graph_.edge_begins.back(), meta_.edge_count));
  return {};
}

Result<void> SnapshotReader::read_edges() {
  if (!have_nodes_ || have_edges_) return fail(ErrorCode::kInvalidInput, "not where V8 writes them");
  EdgeColumns columns(meta_, graph_);
  const auto count = read_integers(window_, jobs_, columns);
  if (!count) return std::unexpected(count.error());
  have_edges_ = true;
  return columns.finish(*count);
}

Result<void> SnapshotReader::read_records(const std::vector<std::string>& fields,
                                          std::function<void(std::span<const std::uint64_t>)> each) {
  if (fields.empty()) return skip_value();
  Records records(fields.size(), std::move(each));
  const auto count = read_integers(window_, in_order_, records);
  if (!count) return std::unexpected(count.error());
  return {};
}

Result<void> SnapshotReader::read_locations() {
  constexpr std::array<std::string_view, 4> kNames = {"object_index", "script_id", "line", "column"};
  const auto at = positions_of(kNames, meta_.location_fields);
  if (std::ranges::any_of(at, [&](std::size_t i) { return i >= meta_.location_fields.size(); }))
    return skip_value();
  std::uint64_t wrong = 0;
  auto read = read_records(meta_.location_fields, [&](std::span<const std::uint64_t> values) {
    const std::uint32_t node = node_of_index(values[at[0]], meta_.node_fields.size(), graph_.node_count());
    if (node == HeapGraph::kNone) {
      ++wrong;
    } else {
      graph_.locations.push_back({node, narrow(values[at[1]]), narrow(values[at[2]]), narrow(values[at[3]])});
    }
  });
  if (wrong != 0)
    graph_.diagnostics.add(Severity::kWarning, "location of an object that is not there", {}, wrong);
  return read;
}

Result<void> SnapshotReader::read_trace_functions() {
  constexpr std::array<std::string_view, 6> kNames = {"function_id", "name", "script_name",
                                                      "script_id",   "line", "column"};
  const auto at = positions_of(kNames, meta_.trace_function_fields);
  if (std::ranges::any_of(at, [&](std::size_t i) { return i >= meta_.trace_function_fields.size(); }))
    return skip_value();
  return read_records(meta_.trace_function_fields, [&](std::span<const std::uint64_t> values) {
    graph_.trace_functions.push_back({narrow(values[at[0]]), narrow(values[at[1]]), narrow(values[at[2]]),
                                      narrow(values[at[3]]), narrow(values[at[4]]), narrow(values[at[5]])});
  });
}

Result<void> SnapshotReader::read_trace_tree() {
  auto tree = nodescope::read_trace_tree(window_);
  if (!tree) return std::unexpected(std::move(tree.error()));
  graph_.trace_tree = std::move(*tree);
  return {};
}

Result<void> SnapshotReader::read_samples() {
  constexpr std::array<std::string_view, 2> kNames = {"timestamp_us", "last_assigned_id"};
  const auto at = positions_of(kNames, meta_.sample_fields);
  if (std::ranges::any_of(at, [&](std::size_t i) { return i >= meta_.sample_fields.size(); }))
    return skip_value();
  return read_records(meta_.sample_fields, [&](std::span<const std::uint64_t> values) {
    graph_.samples.push_back({values[at[0]], values[at[1]]});
  });
}

Result<void> SnapshotReader::read_texts() {
  const auto read = read_strings(window_, graph_.strings);
  if (!read) return std::unexpected(read.error());
  have_strings_ = read->complete;
  if (read->damaged != 0)
    graph_.diagnostics.add(Severity::kWarning, "text with an escape that JSON does not have", {},
                           read->damaged);
  return {};
}

Result<void> SnapshotReader::read_section(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, Section>, 8> kSections = {{
      {"snapshot", &SnapshotReader::read_header},
      {"nodes", &SnapshotReader::read_nodes},
      {"edges", &SnapshotReader::read_edges},
      {"trace_function_infos", &SnapshotReader::read_trace_functions},
      {"trace_tree", &SnapshotReader::read_trace_tree},
      {"samples", &SnapshotReader::read_samples},
      {"locations", &SnapshotReader::read_locations},
      {"strings", &SnapshotReader::read_texts},
  }};
  const auto known = std::ranges::find(kSections, key, &std::pair<std::string_view, Section>::first);
  return known == kSections.end() ? skip_value() : (this->*known->second)();
}

// Names and what comes behind the edges may be missing: sizes and references are complete without them.
Result<void> SnapshotReader::finish() {
  if (!window_.status()) return std::unexpected(window_.status().error());
  if (!have_edges_)
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: not a whole heap snapshot: it ends before its {}",
                                                      source_.name(), have_nodes_ ? "edges" : "nodes"));
  if (!have_strings_)
    graph_.diagnostics.error(
        "the file ends early: names are missing, sizes and references are complete",
        fmt::format("{} texts, then the end at byte {}", graph_.strings.size(), window_.offset()));
  const auto texts = static_cast<std::uint32_t>(graph_.strings.size());
  const auto missing = std::ranges::count_if(graph_.names, [&](std::uint32_t name) { return name >= texts; });
  if (missing != 0)
    graph_.diagnostics.add(Severity::kWarning, "object without a name", {},
                           static_cast<std::uint64_t>(missing));
  return {};
}

Result<HeapGraph> SnapshotReader::read() {
  if (!window_.take('{'))
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: not a heap snapshot", source_.name()));
  while (window_.peek() != '}' && !window_.view().empty()) {
    if (window_.take(',')) continue;
    const auto key = read_key();
    Result<void> read = key ? read_section(*key) : std::unexpected(key.error());
    if (read) continue;
    if (have_edges_ && window_.view().empty()) break;  // cut: see finish()
    if (!window_.status()) return std::unexpected(window_.status().error());
    return fail(std::move(read.error()), fmt::format("{}: the heap snapshot's {}", source_.name(),
                                                     key ? "\"" + *key + "\"" : std::string("structure")));
  }
  if (auto finished = finish(); !finished) return std::unexpected(std::move(finished.error()));
  return std::move(graph_);
}

}  // namespace

bool is_heap_snapshot(std::string_view head) {
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '{') return false;
  const std::size_t key = head.find_first_not_of(" \t\r\n", begin + 1);
  if (key == std::string_view::npos || !head.substr(key).starts_with("\"snapshot\"")) return false;
  return head.find("\"node_fields\"") != std::string_view::npos;
}

Result<HeapGraph> read_heap_snapshot(ByteSource& source, const ReadOptions& options) {
  return SnapshotReader(source, options).read();
}

}  // namespace nodescope
