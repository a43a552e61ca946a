#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "analysis/heap/dominators.h"
#include "analysis/heap/ephemerons.h"
#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/heap_diff.h"
#include "analysis/heap/leak.h"

namespace nodescope {
namespace {

using ::testing::HasSubstr;

HeapGraph random_graph(std::uint32_t seed) {
  std::mt19937 engine(seed);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  const std::uint32_t nodes = 2 + random() % 40;
  HeapGraphBuilder builder;
  const auto name = builder.intern("n");
  for (std::uint32_t i = 0; i < nodes; ++i) {
    builder.add_node(
        {i == 0 ? HeapNodeType::kSynthetic : HeapNodeType::kObject, name, i * 2 + 1, 1 + random() % 9});
    for (std::uint32_t edges = random() % 4; edges > 0; --edges)
      builder.add_edge(HeapEdgeType::kProperty, name, random() % nodes);
  }
  return *std::move(builder).finish();
}

// What the root reaches when `without` is gone, orphans being children of the root.
std::vector<bool> reached(const HeapGraph& graph, const Bits& essential, std::uint32_t without) {
  std::vector<bool> has_edge(graph.node_count());
  for (std::size_t edge = 0; edge < graph.edge_count(); ++edge)
    if (essential[edge]) has_edge[graph.edge_targets[edge]] = true;
  std::vector<bool> seen(graph.node_count());
  std::vector<std::uint32_t> waiting;
  const auto reach = [&](std::uint32_t node) {
    if (seen[node] || node == without) return;
    seen[node] = true;
    waiting.push_back(node);
  };
  reach(graph.root);
  for (std::uint32_t node = 0; node < graph.node_count(); ++node)
    if (!has_edge[node] && without != graph.root) reach(node);
  while (!waiting.empty()) {
    const std::uint32_t node = waiting.back();
    waiting.pop_back();
    for (std::size_t edge = graph.edge_begins[node]; edge < graph.edge_begins[node + 1]; ++edge)
      if (essential[edge]) reach(graph.edge_targets[edge]);
  }
  return seen;
}

TEST(HeapDominators, RetainedIsWhatIsNoLongerReachedWithoutTheNode) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const HeapGraph graph = random_graph(seed);
    const Bits essential = find_essential_edges(graph, EphemeronNames(graph));
    const auto dominators = derive_dominators(graph, essential);
    const DominatorTree tree(dominators, graph.root);
    const WideColumn retained = derive_retained_sizes(dominators, tree, graph.self_sizes);
    const auto all = reached(graph, essential, HeapGraph::kNone);
    for (std::uint32_t node = 1; node < graph.node_count(); ++node) {
      if (!all[node]) {
        EXPECT_EQ(dominators[node], graph.root);
        continue;
      }
      const auto left = reached(graph, essential, node);
      std::uint64_t lost = 0;
      for (std::uint32_t other = 0; other < graph.node_count(); ++other)
        if (all[other] && !left[other]) lost += graph.self_sizes[other];
      ASSERT_EQ(retained[node], lost) << "seed " << seed << " node " << node;
    }
  }
}

TEST(HeapDominators, AChainOfAMillionNeedsNoStack) {
  HeapGraphBuilder builder;
  const auto name = builder.intern("n");
  constexpr std::uint32_t kNodes = 1'000'000;
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    builder.add_node({HeapNodeType::kObject, name, i * 2 + 1, 8});
    if (i + 1 < kNodes) builder.add_edge(HeapEdgeType::kProperty, name, i + 1);
  }
  const HeapGraph graph = *std::move(builder).finish();
  const HeapAnalysis heap(graph);
  EXPECT_EQ(heap.retained_size(0), 8u * kNodes);
  EXPECT_EQ(heap.retained_size(kNodes - 1), 8u);
  EXPECT_EQ(derive_groups(heap).size(), 1u);
}

TEST(HeapEphemerons, TheNamesThatV8GivesThem) {
  const auto found =
      parse_ephemeron("7 / part of key (Key @11) -> value (A (x) @13) pair in WeakMap (table @17)");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->table_id, 17u);
  EXPECT_EQ(found->pair, " / part of key (Key @11) -> value (A (x) @13) pair in WeakMap (table @17)");
  for (const char* name :
       {"", "7", "part of key (Key @11) -> value (V @13) pair in WeakMap (table @17)",
        "7 / part of key (Key @) -> value (V @13) pair in WeakMap (table @17)",
        "7 / part of key (Key @11) -> value (V @13) pair in WeakMap (table @17",
        "7 / part of key (K\ney @11) -> value (V @13) pair in WeakMap (table @17)",
        "7 / part of key (K\xE2\x80\xA8y @11) -> value (V @13) pair in WeakMap (table @17)",
        "7 / part of key (pair in WeakMap (table @17)"})
    EXPECT_FALSE(parse_ephemeron(name)) << name;
}

// A program: the global object, a ledger in the variable of a function, and `count` vouchers in its map, each
// with a text and an array.
struct Program {
  std::uint32_t count = 0;
  bool same_ids = true;
  const char* file = "/srv/app.js";

  HeapGraph graph() const {
    HeapGraphBuilder b;
    const auto node = [&](HeapNodeType type, const char* name, std::uint64_t id, std::uint64_t size) {
      return b.add_node({type, b.intern(name), id, size});
    };
    using enum HeapNodeType;
    const auto edge = [&](HeapEdgeType type, const char* name, std::uint32_t to) {
      b.add_edge(type, b.intern(name), to);
    };
    node(kSynthetic, "", 1, 0);
    b.add_edge(HeapEdgeType::kElement, 1, 1);
    node(kObject, "global / ", 3, 100);
    edge(HeapEdgeType::kProperty, "main", 2);
    node(kClosure, "main", 5, 64);
    edge(HeapEdgeType::kInternal, "context", 3);
    edge(HeapEdgeType::kInternal, "shared", 6);
    node(kHidden, "system / Context", 7, 32);
    edge(HeapEdgeType::kContext, "ledger", 4);
    node(kObject, "Ledger", 9, 24);
    edge(HeapEdgeType::kProperty, "entries", 5);
    node(kObject, "Map", 11, 32);
    edge(HeapEdgeType::kInternal, "table", 8);
    node(kCode, "main", 13, 56);
    edge(HeapEdgeType::kInternal, "script", 7);
    node(kCode, file, 15, 48);
    node(kArray, "", 17, 16 + 8 * count);
    for (std::uint32_t i = 0; i < count; ++i) b.add_edge(HeapEdgeType::kHidden, i, 9 + 3 * i);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t id = (same_ids ? 1001 : 5'000'001) + 6 * i;
      node(kObject, "Voucher", id, 40);
      edge(HeapEdgeType::kProperty, "number", 10 + 3 * i);
      edge(HeapEdgeType::kProperty, "lines", 11 + 3 * i);
      node(kString, "text", id + 2, 24);
      node(kObject, "Array", id + 4, 16);
    }
    return *std::move(b).finish();
  }
};

LeakAnswer answer_of(const std::vector<Program>& programs) {
  const HeapGraph newest = programs.back().graph();
  const HeapAnalysis heap(newest);
  std::vector<HeapBaseline> older;
  for (std::size_t i = 0; i + 1 < programs.size(); ++i) {
    const HeapGraph graph = programs[i].graph();
    older.emplace_back(HeapAnalysis(graph), heap.interfaces());
  }
  return find_leak(older, derive_heap_diff(older.front(), heap), heap, derive_reach(heap.graph()));
}

TEST(HeapLeak, OneSnapshotTellsWhatFillsIt) {
  const HeapGraph graph = Program{9100}.graph();
  const auto parts = find_what_fills(HeapAnalysis(graph), 3);
  ASSERT_FALSE(parts.empty());
  EXPECT_EQ(parts[0].name, "Voucher");
  EXPECT_EQ(parts[0].count_delta, 9100);
  EXPECT_EQ(parts[0].holder, "Ledger.entries (Map)");
  EXPECT_TRUE(find_what_fills(HeapAnalysis(graph), 0).empty());
}

// Arrays are many here, and one of them leads to everything.
TEST(HeapLeak, GoesThroughAListOfWhichThereAreMany) {
  HeapGraphBuilder b;
  const auto object = [&](const char* name, std::uint32_t id) {
    b.add_node({HeapNodeType::kObject, b.intern(name), id, 50});
  };
  constexpr std::uint32_t kCount = 2000;
  b.add_node({HeapNodeType::kSynthetic, b.intern(""), 1, 0});
  b.add_edge(HeapEdgeType::kShortcut, b.intern("1"), 1);
  object("global", 3);
  b.add_edge(HeapEdgeType::kProperty, b.intern("resources"), 2);
  object("Array", 5);
  b.add_edge(HeapEdgeType::kElement, 1, 3);
  object("Store", 7);
  b.add_edge(HeapEdgeType::kProperty, b.intern("sessions"), 4);
  object("Map", 9);
  for (std::uint32_t i = 0; i < kCount; ++i)
    b.add_edge(HeapEdgeType::kInternal, b.intern("table"), 5 + 2 * i);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    object("Session", 11 + 4 * i);
    b.add_edge(HeapEdgeType::kProperty, b.intern("tags"), 6 + 2 * i);
    object("Array", 13 + 4 * i);
  }
  const HeapGraph graph = *std::move(b).finish();
  const auto parts = find_what_fills(HeapAnalysis(graph), 1);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].name, "Session");
  EXPECT_EQ(parts[0].holder, "Store.sessions (Map)");
}

TEST(HeapLeak, NamesTheOwnClassAndItsHolder) {
  const LeakAnswer answer = answer_of({{100}, {9100}});
  ASSERT_TRUE(answer.leak);
  EXPECT_EQ(answer.leak->name, "Voucher");
  EXPECT_EQ(answer.leak->count_delta, 9000);
  EXPECT_EQ(answer.leak->retained_delta_bytes, 9000 * 80);
  EXPECT_EQ(answer.leak->holder, "Ledger.entries (Map)");
  EXPECT_EQ(leak_sentence(answer),
            "Voucher +9,000 (703.1 KB), held by Ledger.entries (Map) ← ledger (app.js)");
  ASSERT_EQ(answer.leak->path.size(), 7u);
  EXPECT_EQ(answer.leak->path.back().name, "Voucher");
  EXPECT_EQ(answer.leak->path[3].via, "ledger");
}

TEST(HeapLeak, IsFoundWithoutLastingIds) {
  const LeakAnswer answer = answer_of({{4000}, {9000, false}});
  ASSERT_TRUE(answer.leak);
  EXPECT_EQ(answer.leak->name, "Voucher");
  EXPECT_EQ(answer.leak->count_delta, 5000);
  EXPECT_EQ(answer.leak->holder, "Ledger.entries (Map)");
}

TEST(HeapLeak, ThreeSnapshotsTellGrowthFromAStep) {
  EXPECT_THAT(leak_sentence(answer_of({{100}, {600}, {1100}})), HasSubstr("; steady: +500, +500"));
  const LeakAnswer step = answer_of({{100}, {1100}, {1100}});
  EXPECT_FALSE(step.leak);
  EXPECT_THAT(leak_sentence(step),
              HasSubstr("Nothing leaks: Voucher grew in one step and stayed (+1,000, +0)"));
  EXPECT_FALSE(answer_of({{100}, {1100}, {300}}).leak);
  EXPECT_FALSE(answer_of({{500}, {500}, {500, false}}).leak);
  EXPECT_THAT(leak_sentence(answer_of({{500}, {100}})), HasSubstr("the heap shrank by"));
}

// A list: `links` of them, each with an order, from a variable on; or a tree where `forks` says so.
HeapGraph chain(std::uint32_t links, bool forks) {
  using enum HeapNodeType;
  HeapGraphBuilder b;
  const auto edge = [&](HeapEdgeType type, const char* name, std::uint32_t to) {
    b.add_edge(type, b.intern(name), to);
  };
  b.add_node({kSynthetic, b.intern(""), 1, 0});
  b.add_edge(HeapEdgeType::kElement, 1, 1);
  b.add_node({kObject, b.intern("global / "), 3, 100});
  edge(HeapEdgeType::kProperty, "queue", 2);
  b.add_node({kObject, b.intern("Queue"), 5, 24});
  edge(HeapEdgeType::kProperty, "first", 3);
  for (std::uint32_t i = 0; i < links; ++i) {
    b.add_node({kHidden, b.intern("system / PromiseReaction"), 11 + 4 * i, 40});
    edge(HeapEdgeType::kInternal, "payload", 4 + 2 * i);
    const auto child = [&](std::uint32_t link) {
      if (link < links) edge(HeapEdgeType::kInternal, "next", 3 + 2 * link);
    };
    child(forks ? 2 * i + 1 : i + 1);
    if (forks) child(2 * i + 2);
    b.add_node({kObject, b.intern("Order"), 13 + 4 * i, 80});
  }
  return *std::move(b).finish();
}

TEST(HeapLeak, OfAListIsHeldByWhatRefersToItsFirstLink) {
  for (const bool forks : {false, true}) {
    const HeapGraph newest = chain(1000, forks);
    const HeapAnalysis heap(newest);
    const HeapGraph before = chain(50, forks);
    std::vector<HeapBaseline> older;
    older.emplace_back(HeapAnalysis(before), heap.interfaces());
    const LeakAnswer answer =
        find_leak(older, derive_heap_diff(older.front(), heap), heap, derive_reach(newest));
    ASSERT_TRUE(answer.leak);
    EXPECT_EQ(answer.leak->name, "Order");
    EXPECT_EQ(answer.leak->count_delta, 950);
    EXPECT_EQ(answer.leak->holder, "global.queue (Queue)");
  }
}

// An array of numbers: no object is new.
HeapGraph numbers(std::uint64_t bytes) {
  using enum HeapNodeType;
  HeapGraphBuilder b;
  b.add_node({kSynthetic, b.intern(""), 1, 0});
  b.add_edge(HeapEdgeType::kElement, 1, 1);
  b.add_node({kObject, b.intern("global / "), 3, 100});
  b.add_edge(HeapEdgeType::kProperty, b.intern("times"), 2);
  b.add_node({kObject, b.intern("Array"), 5, 32});
  b.add_edge(HeapEdgeType::kInternal, b.intern("elements"), 3);
  b.add_node({kArray, b.intern("(object elements)"), bytes, bytes});
  return *std::move(b).finish();
}

LeakAnswer answer_of_numbers(const std::vector<std::uint64_t>& bytes) {
  const HeapGraph newest = numbers(bytes.back());
  const HeapAnalysis heap(newest);
  std::vector<HeapBaseline> older;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    const HeapGraph graph = numbers(bytes[i]);
    older.emplace_back(HeapAnalysis(graph), heap.interfaces());
  }
  return find_leak(older, derive_heap_diff(older.front(), heap), heap, derive_reach(newest));
}

TEST(HeapLeak, OneObjectThatGrowsIsNamed) {
  const LeakAnswer answer = answer_of_numbers({100'001, 500'001, 900'001});
  ASSERT_TRUE(answer.leak);
  EXPECT_EQ(answer.leak->name, "Array");
  EXPECT_EQ(answer.leak->count_delta, 0);
  EXPECT_EQ(leak_sentence(answer), "global.times (Array) grew by 781.2 KB");
  EXPECT_FALSE(answer_of_numbers({100'001, 900'001, 900'001}).leak);
  EXPECT_FALSE(answer_of_numbers({900'001, 100'001}).leak);
}

TEST(HeapDiff, CountsByIdAndClass) {
  const HeapGraph newer = Program{300}.graph();
  const HeapAnalysis heap(newer);
  const HeapGraph older = Program{100}.graph();
  const HeapDiff diff = derive_heap_diff(HeapBaseline(HeapAnalysis(older), heap.interfaces()), heap);
  const auto rows = shown_rows(diff);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]->name, "Voucher");
  EXPECT_EQ(rows[0]->added, 200u);
  EXPECT_EQ(rows[0]->added_bytes, 8000u);
  EXPECT_EQ(rows[0]->removed, 0u);
}

}  // namespace
}  // namespace nodescope
