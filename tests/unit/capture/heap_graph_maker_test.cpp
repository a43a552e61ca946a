#include "capture/heap_graph_maker.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>

#include "support/heap_graphs.h"

namespace nodescope {
namespace {

using testing::FakeIsolate;
using testing::graphs_of;

// "type name" of each edge that leaves `node`.
std::set<std::string> edges_of(const HeapGraph& graph, std::uint32_t node) {
  std::set<std::string> edges;
  for (std::uint32_t edge = graph.edge_begins[node]; edge < graph.edge_begins[node + 1]; ++edge) {
    const HeapEdgeType type = graph.edge_type(edge);
    const std::string name = has_number(type) ? std::to_string(graph.edge_names[edge])
                                              : std::string(graph.strings[graph.edge_names[edge]]);
    edges.insert(std::string(kHeapEdgeTypeNames[static_cast<std::size_t>(type)]) + " " + name + " -> " +
                 std::string(graph.type_name(graph.edge_targets[edge])));
  }
  return edges;
}

std::uint32_t last_node_of(const HeapGraph& graph, HeapNodeType type) {
  std::uint32_t found = 0;
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    if (graph.type(node) == type) found = node;
  }
  return found;
}

TEST(HeapGraphMaker, RootsAndObjectsHaveV8sTypesAndNames) {
  FakeIsolate fake;
  const std::array elements = {fake.object(), fake.object() + 2};
  fake.add_global_handle(elements[0]);
  fake.add_global_handle(fake.array(elements));
  const auto graphs = graphs_of(fake);
  ASSERT_EQ(graphs.size(), 1U);
  ASSERT_TRUE(graphs[0]);
  const HeapGraph& graph = *graphs[0];
  EXPECT_EQ(graph.name(0), "");
  EXPECT_EQ(edges_of(graph, 0), (std::set<std::string>{"element 1 -> synthetic"}));
  EXPECT_EQ(graph.name(1), "(GC roots)");
  EXPECT_EQ(graph.name(5), "(Global handles)");
  EXPECT_EQ(edges_of(graph, 5), (std::set<std::string>{"internal 1 -> object", "internal 2 -> array"}));
  const std::uint32_t array = last_node_of(graph, HeapNodeType::kArray);
  EXPECT_EQ(graph.self_sizes[array], 32U);
  // The second object is referred to weakly, so that it does not live.
  EXPECT_EQ(edges_of(graph, array), (std::set<std::string>{"internal 0 -> object"}));
  EXPECT_EQ(graph.name(last_node_of(graph, HeapNodeType::kObject)), "Object");
}

TEST(HeapGraphMaker, IdsAreOddAndUnique) {
  FakeIsolate fake;
  std::vector<std::uint64_t> elements;
  for (int i = 0; i < 100; ++i) elements.push_back(fake.object());
  fake.add_global_handle(fake.array(elements));
  const auto graphs = graphs_of(fake);
  ASSERT_TRUE(graphs.at(0));
  std::set<std::uint64_t> ids;
  for (std::size_t node = 0; node < graphs[0]->node_count(); ++node) {
    EXPECT_EQ(graphs[0]->ids[node] % 2, 1U);
    EXPECT_LT(graphs[0]->ids[node], std::uint64_t{1} << 32);
    ids.insert(graphs[0]->ids[node]);
  }
  EXPECT_EQ(ids.size(), graphs[0]->node_count());
}

TEST(HeapGraphMaker, EntriesOfAWeakMapAreOfTheTableAndTheKey) {
  FakeIsolate fake;
  const std::uint64_t key = fake.object();
  const std::uint64_t smi = std::uint64_t{1} << 32;
  const std::array table = {smi, std::uint64_t{0}, smi, key, fake.object()};
  const std::uint64_t entries = fake.array(table, fake.ephemeron_map);
  const std::array elements = {fake.object(entries, fake.weak_map_map), key};
  fake.add_global_handle(fake.array(elements));
  const auto graphs = graphs_of(fake);
  ASSERT_TRUE(graphs.at(0));
  std::size_t entries_shown = 0;
  for (std::size_t edge = 0; edge < graphs[0]->edge_count(); ++edge) {
    if (has_number(graphs[0]->edge_type(edge))) continue;
    const std::string_view name = graphs[0]->strings[graphs[0]->edge_names[edge]];
    if (name.find("pair in WeakMap") != std::string_view::npos) ++entries_shown;
  }
  EXPECT_EQ(entries_shown, 2U);
}

TEST(HeapGraphMaker, SurvivesDamage) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    FakeIsolate fake;
    std::vector<std::uint64_t> elements;
    for (int i = 0; i < 40; ++i) elements.push_back(fake.object(elements.empty() ? 0 : elements.back()));
    fake.add_global_handle(fake.array(elements));
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t page = random() % 2 == 0 ? FakeIsolate::kReadOnlyPage : FakeIsolate::kOldPage;
      const std::uint64_t at = page + 0x1000 + random() % 0x600;
      const std::uint64_t value =
          random() % 3 == 0 ? random() : FakeIsolate::kReadOnlyPage + random() % 0x80000;
      fake.memory.put(Address{at & ~std::uint64_t{7}}, value);
    }
    for (const auto& graph : graphs_of(fake)) EXPECT_TRUE(graph);
  }
}

}  // namespace
}  // namespace nodescope
