#include "formats/heapsnapshot/heapsnapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/read_heap.h"

namespace nodescope {
namespace {

using ::testing::HasSubstr;

// A source that gives a few bytes at a time and has no mapping.
class Dripping final : public ByteSource {
 public:
  Dripping(std::string_view text, std::size_t step) : text_(text), step_(step) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    const std::size_t count = std::min({into.size(), step_, text_.size()});
    std::memcpy(into.data(), text_.data(), count);
    text_.remove_prefix(count);
    return count;
  }
  std::string_view name() const override { return "pipe"; }

 private:
  std::string_view text_;
  std::size_t step_;
};

Result<HeapGraph> try_read(std::string_view text, unsigned threads = 1) {
  MemorySource source(text, "test.heapsnapshot");
  ReadOptions options;
  options.threads = threads;
  return read_heap_snapshot(source, options);
}

HeapGraph read(std::string_view text) {
  auto graph = try_read(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? std::move(*graph) : HeapGraph();
}

std::string write(const HeapGraph& graph) {
  StringSink sink;
  EXPECT_TRUE(write_heap_snapshot(graph, sink));
  return sink.text();
}

HeapGraph small_graph() {
  HeapGraphBuilder builder;
  const auto root_name = builder.intern("");
  const auto leaf_name = builder.intern("Voucher");
  const auto edge_name = builder.intern("entries");
  EXPECT_EQ(builder.intern("Voucher"), leaf_name);
  builder.add_node({HeapNodeType::kSynthetic, root_name, 1, 0});
  builder.add_edge(HeapEdgeType::kElement, 1, 1);
  builder.add_edge(HeapEdgeType::kShortcut, edge_name, 2);
  builder.add_node({HeapNodeType::kObject, leaf_name, 3, 5'000'000'000});
  builder.add_edge(HeapEdgeType::kProperty, edge_name, 2);
  builder.add_node({HeapNodeType::kNative, leaf_name, 0x1234567890, 24, DomState::kDetached});
  builder.add_location({1, 7, 10, 3});
  builder.set_extra_native_bytes(99);
  auto graph = std::move(builder).finish();
  EXPECT_TRUE(graph);
  return std::move(*graph);
}

TEST(HeapSnapshot, WhatIsWrittenIsRead) {
  HeapGraph graph = small_graph();
  graph.trace_functions = {{1, 0, 0, 0, 0, 0}, {2, 1, 2, 3, 4, 5}};
  graph.trace_tree = {{1, 0, 0, 0, 0}, {2, 1, 5, 60, 0}, {3, 1, 1, 7, 1}, {4, 0, 2, 8, 0}};
  graph.samples = {{100, 3}, {200, 5}};
  graph.trace_nodes.assign(3, 0);
  graph.trace_nodes[1] = 3;
  const HeapGraph again = read(write(graph));
  ASSERT_EQ(again.node_count(), 3u);
  ASSERT_EQ(again.edge_count(), 3u);
  EXPECT_EQ(again.self_sizes[1], 5'000'000'000u);
  EXPECT_EQ(again.ids[2], 0x1234567890u);
  EXPECT_EQ(again.type(2), HeapNodeType::kNative);
  EXPECT_EQ(again.dom_state(2), DomState::kDetached);
  EXPECT_EQ(again.name(1), "Voucher");
  EXPECT_EQ(again.edge_type(1), HeapEdgeType::kShortcut);
  EXPECT_EQ(again.edge_names[0], 1u);
  EXPECT_EQ(again.edge_source(2), 1u);
  EXPECT_EQ(again.extra_native_bytes, 99u);
  EXPECT_EQ(again.locations, graph.locations);
  EXPECT_EQ(again.trace_functions, graph.trace_functions);
  EXPECT_EQ(again.trace_tree, graph.trace_tree);
  EXPECT_EQ(again.samples, graph.samples);
  EXPECT_EQ(again.trace_nodes[1], 3u);
  EXPECT_TRUE(again.diagnostics.entries().empty());
  EXPECT_EQ(write(again), write(graph));
}

TEST(HeapSnapshot, TheSixFieldsOfNode24) {
  const HeapGraph graph = read(
      R"({"snapshot":{"meta":{"node_fields":["type","name","id","self_size","edge_count","detachedness"],)"
      R"("node_types":[["hidden","object","new kind"],"string","number","number","number","number","number"],)"
      R"("edge_fields":["type","name_or_index","to_node"],"edge_types":[["context","element","invisible"],"x","node"]},)"
      R"("node_count":2,"edge_count":2,"root_index":0},"nodes":[1,0,1,0,2,0,2,1,3,16,0,1],)"
      R"("edges":[1,7,6,2,1,-4294967290],"strings":["root","a"]})");
  EXPECT_EQ(graph.type(0), HeapNodeType::kObject);
  EXPECT_EQ(graph.type_name(1), "new kind");
  EXPECT_EQ(graph.dom_state(1), DomState::kAttached);
  EXPECT_EQ(graph.edge_type(1), HeapEdgeType::kOther);
  EXPECT_EQ(graph.edge_targets[1], 1u);
}

std::string with_strings(std::string_view strings) {
  std::string text = write(small_graph());
  const std::string_view key = "\"strings\":";
  return text.substr(0, text.find(key) + key.size()) + std::string(strings) + "}";
}

TEST(HeapSnapshot, EveryEscapeInStrings) {
  const HeapGraph graph =
      read(with_strings("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\u00e9\\uD83D\\ude00\\ud800x\\udc00\\\\\", "
                        "\"raw \xC3\xA9\", \"\\q\"]"));
  EXPECT_EQ(graph.strings[0], "\"\\/\b\f\n\r\t");
  EXPECT_EQ(graph.strings[1], "\xC3\xA9\xF0\x9F\x98\x80\xED\xA0\x80x\xED\xB0\x80\\");
  EXPECT_EQ(graph.strings[2], "raw \xC3\xA9");
  EXPECT_EQ(graph.strings[3], "\\q");
  EXPECT_EQ(graph.diagnostics.count("text with an escape that JSON does not have"), 1u);
  const HeapGraph again = read(write(graph));
  for (std::size_t i = 0; i < graph.strings.size(); ++i) EXPECT_EQ(again.strings[i], graph.strings[i]);
}

TEST(HeapSnapshot, PiecesAndThreadsMakeNoDifference) {
  HeapGraphBuilder builder;
  const auto name = builder.intern("n");
  constexpr std::uint32_t kNodes = 300'000;  // several pieces of 2 MB
  for (std::uint32_t i = 0; i < kNodes; ++i) {
    builder.add_node({HeapNodeType::kObject, name, i * 2 + 1, i % 7});
    builder.add_edge(HeapEdgeType::kElement, i, (i * 7919) % kNodes);
    builder.add_edge(HeapEdgeType::kProperty, name, (i + 1) % kNodes);
  }
  const std::string text = write(*std::move(builder).finish());
  ASSERT_GT(text.size(), 8u << 20);
  const auto threads = try_read(text, 4);
  ASSERT_TRUE(threads) << threads.error().message;
  EXPECT_EQ(write(*threads), text);
  Dripping pipe(text, 70'000);
  const auto dripped = read_heap_snapshot(pipe, {});
  ASSERT_TRUE(dripped) << dripped.error().message;
  EXPECT_EQ(write(*dripped), text);
}

TEST(HeapSnapshot, EveryTruncatedPrefixIsAnErrorOrSaysThatNamesAreMissing) {
  HeapGraph graph = small_graph();
  graph.trace_tree = {{1, 0, 0, 0, 0}, {2, 1, 5, 60, 0}};
  const std::string text = write(graph);
  const std::size_t edges_end = text.find("trace_function_infos");
  for (std::size_t length = 0; length + 3 < text.size(); ++length) {
    const auto cut = try_read(std::string_view(text).substr(0, length));
    if (length < edges_end - 3) {
      EXPECT_FALSE(cut) << length;
    } else if (cut) {
      EXPECT_TRUE(cut->diagnostics.has(Severity::kError)) << length;
      EXPECT_EQ(cut->self_sizes[1], 5'000'000'000u);
    }
    if (!cut) {
      EXPECT_FALSE(cut.error().message.empty());
    }
    Dripping pipe(std::string_view(text).substr(0, length), 1);
    EXPECT_EQ(read_heap_snapshot(pipe, {}).has_value(), cut.has_value()) << length;
  }
}

TEST(HeapSnapshot, WhatContradictsItselfIsRefused) {
  const std::string good = write(small_graph());
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const auto error = [](const std::string& text) {
    const auto graph = try_read(text);
    return graph ? std::string("read") : graph.error().message;
  };
  EXPECT_THAT(error(changed("\"node_count\":3", "\"node_count\":4")), HasSubstr("the header says 4 nodes"));
  EXPECT_THAT(error(changed("\"node_count\":3", "\"node_count\":4000000")), HasSubstr("do not fit"));
  EXPECT_THAT(error(changed("\"edge_count\":3", "\"edge_count\":2")), HasSubstr("the header says 2"));
  EXPECT_THAT(error(changed("[1,1,7,", "[1,1,21,")), HasSubstr("edge 0 leads to no node"));
  EXPECT_THAT(error(changed("[1,1,7,", "[1,1,8,")), HasSubstr("edge 0 leads to no node"));
  EXPECT_THAT(error(changed("[1,1,7,", "[9,1,7,")), HasSubstr("edge 0 leads to no node"));
  EXPECT_THAT(error(changed("[1,1,7,", "[1,1.5,7,")), HasSubstr("not an integer at byte"));
  EXPECT_THAT(error(changed("[1,1,7,", "[1,,7,")), HasSubstr("not an integer at byte"));
  EXPECT_THAT(error(changed("[1,1,7,", "[1,1,99999999999999999999999,")),
              HasSubstr("not an integer at byte"));
  EXPECT_THAT(error(changed("\"self_size\"", "\"other_size\"")), HasSubstr("no field self_size"));
  EXPECT_THAT(error(changed("\"to_node\"", "\"from_node\"")), HasSubstr("no field to_node"));
  EXPECT_THAT(error("{}"), HasSubstr("it ends before its nodes"));
  EXPECT_THAT(error("[1]"), HasSubstr("not a heap snapshot"));
}

TEST(HeapSnapshot, AMutatedByteNeverBreaksTheModel) {
  const std::string good = write(small_graph());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'0', '9', ',', ']', '"', '{', '-', '\\', '\0'}) {
      std::string text = good;
      text[i] = c;
      const auto graph = try_read(text);
      if (!graph) continue;
      ASSERT_EQ(graph->edge_begins.back(), graph->edge_count());
      for (const std::uint32_t to : graph->edge_targets) ASSERT_LT(to, graph->node_count());
      for (std::size_t n = 0; n < graph->node_count(); ++n)
        ASSERT_LT(graph->type_index(n), graph->node_type_names.size());
    }
  }
}

TEST(HeapSnapshot, IsRecognisedAndToldFromProfiles) {
  EXPECT_TRUE(is_heap_snapshot(write(small_graph())));
  EXPECT_FALSE(is_heap_snapshot("{\"nodes\":[]}"));
  const auto heap = read_profile(std::make_unique<MemorySource>(write(small_graph()), "a.heapsnapshot"), {});
  ASSERT_FALSE(heap);
  EXPECT_THAT(heap.error().message, HasSubstr("nodescope heap summary a.heapsnapshot"));
  const auto profile = read_heap(std::make_unique<MemorySource>("node;main 3\n", "a.folded"), {});
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().message, HasSubstr("a profile (folded), not a heap snapshot"));
}

TEST(HeapGraphBuilder, RefusesWhatPointsNowhere) {
  HeapGraphBuilder empty;
  EXPECT_FALSE(std::move(empty).finish());
  HeapGraphBuilder builder;
  builder.add_node({});
  builder.add_edge(HeapEdgeType::kElement, 0, 1);
  EXPECT_FALSE(std::move(builder).finish());
}

}  // namespace
}  // namespace nodescope
