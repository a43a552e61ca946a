// Makes large heap snapshots:
//   make_heap copies SNAPSHOT COUNT > OUT     COUNT copies of a real one under one root: its shape, any size
//   make_heap random NODES > OUT              nothing that refers to each other is near each other
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include "base/text.h"
#include "formats/heapsnapshot/heapsnapshot.h"
#include "formats/read_heap.h"
#include "os/file.h"

using namespace nodescope;

namespace {

class StandardOutput final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
    return fail(ErrorCode::kSystem, "standard output cannot be written");
  }
};

Result<HeapGraph> copies_of(const std::string& path, std::uint32_t copies) {
  auto source = open_file(path);
  if (!source) return std::unexpected(source.error());
  const auto one = read_heap(std::move(*source), {});
  if (!one) return std::unexpected(one.error());
  const auto nodes = static_cast<std::uint32_t>(one->node_count());
  HeapGraphBuilder builder;
  builder.reserve(std::size_t{nodes} * copies + 1, (one->edge_count() + 1) * copies);
  std::vector<std::uint32_t> names;
  for (std::size_t i = 0; i < one->strings.size(); ++i) names.push_back(builder.intern(one->strings[i]));
  builder.add_node({HeapNodeType::kSynthetic, builder.intern(""), 1, 0});
  // What the program refers to from its root it does so in every copy.
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    for (std::uint32_t edge = one->edge_begins[one->root]; edge < one->edge_begins[one->root + 1]; ++edge)
      builder.add_edge(
          one->edge_type(edge),
          has_number(one->edge_type(edge)) ? one->edge_names[edge] : names[one->edge_names[edge]],
          1 + copy * nodes + one->edge_targets[edge]);
  }
  const std::uint64_t step = [&] {
    std::uint64_t largest = 0;
    for (std::size_t i = 0; i < nodes; ++i) largest = std::max(largest, one->ids[i]);
    return largest + 2 + largest % 2;
  }();
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    const std::uint32_t first = 1 + copy * nodes;
    for (std::uint32_t node = 0; node < nodes; ++node) {
      builder.add_node({one->type(node), names[one->names[node]], one->ids[node] + (copy + 1) * step,
                        one->self_sizes[node], one->dom_state(node)});
      for (std::uint32_t edge = one->edge_begins[node]; edge < one->edge_begins[node + 1]; ++edge) {
        const HeapEdgeType type = one->edge_type(edge);
        builder.add_edge(type, has_number(type) ? one->edge_names[edge] : names[one->edge_names[edge]],
                         first + one->edge_targets[edge]);
      }
    }
    for (const HeapLocation& at : one->locations)
      builder.add_location({first + at.node, at.script_id, at.line, at.column});
  }
  return std::move(builder).finish();
}

Result<HeapGraph> random_graph(std::uint32_t nodes) {
  constexpr std::uint32_t kClasses = 500;
  std::mt19937_64 random(1);
  HeapGraphBuilder builder;
  builder.reserve(nodes, std::size_t{nodes} * 3);
  std::vector<std::uint32_t> classes;
  std::vector<std::uint32_t> properties;
  for (std::uint32_t i = 0; i < kClasses; ++i) {
    classes.push_back(builder.intern(fmt::format("Class{}", i)));
    properties.push_back(builder.intern(fmt::format("property{}", i)));
  }
  builder.add_node({HeapNodeType::kSynthetic, builder.intern(""), 1, 0});
  builder.add_edge(HeapEdgeType::kShortcut, builder.intern("global"), 1);
  for (std::uint32_t node = 1; node < nodes; ++node) {
    builder.add_node(
        {HeapNodeType::kObject, classes[random() % kClasses], node * 2 + 1, 16 + random() % 12 * 8});
    // One keeps the next alive that nothing else need reach; the others lead anywhere.
    if (node + 1 < nodes)
      builder.add_edge(HeapEdgeType::kProperty, properties[0],
                       1 + static_cast<std::uint32_t>(random() % (node + 1)));
    for (int i = 0; i < 2; ++i)
      builder.add_edge(HeapEdgeType::kProperty, properties[random() % kClasses],
                       1 + static_cast<std::uint32_t>(random() % (nodes - 1)));
  }
  return std::move(builder).finish();
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  Result<HeapGraph> graph =
      fail(ErrorCode::kUsage, "make_heap copies SNAPSHOT COUNT | make_heap random NODES");
  if (words.size() == 3 && words[0] == "copies")
    graph = copies_of(words[1], parse_number<std::uint32_t>(words[2]).value_or(1));
  if (words.size() == 2 && words[0] == "random")
    graph = random_graph(parse_number<std::uint32_t>(words[1]).value_or(1000));
  StandardOutput output;
  const auto written = graph ? write_heap_snapshot(*graph, output) : std::unexpected(graph.error());
  if (written) return 0;
  fmt::print(stderr, "{}\n", written.error().message);
  return 1;
}
