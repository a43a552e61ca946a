#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "page/heap/report.h"
#include "page/heap/session.h"
#include "page/heap/views.h"
#include "page/typescript/wire_types.h"

namespace nodescope::page {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Query query(std::string_view text) {
  return *Query::parse(text);
}

// The global object, a ledger in a variable, and `count` vouchers in its map, each with a text.
HeapGraph program(std::uint32_t count) {
  using enum HeapNodeType;
  HeapGraphBuilder b;
  const auto node = [&](HeapNodeType type, std::string_view name, std::uint64_t id, std::uint64_t size) {
    b.add_node({type, b.intern(name), id, size});
  };
  const auto edge = [&](HeapEdgeType type, std::string_view name, std::uint32_t to) {
    b.add_edge(type, b.intern(name), to);
  };
  node(kSynthetic, "", 1, 0);
  b.add_edge(HeapEdgeType::kElement, 1, 1);
  node(kObject, "global / ", 3, 100);
  edge(HeapEdgeType::kProperty, "main", 2);
  node(kClosure, "main", 5, 64);
  edge(HeapEdgeType::kInternal, "context", 3);
  node(kHidden, "system / Context", 7, 32);
  edge(HeapEdgeType::kContext, "ledger", 4);
  node(kObject, "Ledger", 9, 24);
  edge(HeapEdgeType::kProperty, "entries", 5);
  node(kObject, "Map", 11, 32);
  edge(HeapEdgeType::kInternal, "table", 6);
  node(kArray, "", 13, 16 + 8 * count);
  for (std::uint32_t i = 0; i < count; ++i) b.add_edge(HeapEdgeType::kInternal, b.intern("1"), 7 + 2 * i);
  for (std::uint32_t i = 0; i < count; ++i) {
    node(kObject, "Voucher", 1001 + 4 * i, 40);
    edge(HeapEdgeType::kProperty, "number", 8 + 2 * i);
    node(kString, "text", 1003 + 4 * i, 24);
  }
  return *std::move(b).finish();
}

HeapSession session_of(const std::vector<std::uint32_t>& counts) {
  HeapSnapshots snapshots;
  snapshots.graph = std::make_unique<const HeapGraph>(program(counts.back()));
  snapshots.heap = std::make_unique<const HeapAnalysis>(*snapshots.graph);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    snapshots.names.push_back(std::to_string(i));
    if (i + 1 == counts.size()) break;
    const HeapGraph graph = program(counts[i]);
    snapshots.older.emplace_back(HeapAnalysis(graph), snapshots.heap->interfaces());
  }
  return HeapSession(std::move(snapshots));
}

TEST(HeapPage, SaysWhatLeaksAndWhoHoldsIt) {
  const HeapSession session = session_of({100, 9100});
  const auto about = answer_heap_about(session, query(""));
  ASSERT_TRUE(about);
  EXPECT_TRUE(about->leaks);
  EXPECT_THAT(about->sentence, HasSubstr("Voucher +9,000"));
  ASSERT_EQ(about->snapshots.size(), 2u);
  EXPECT_LT(about->snapshots[0].bytes, about->snapshots[1].bytes);
  const auto holder = answer_heap_holder(session, query(fmt::format("class={}", *about->heap_class)));
  ASSERT_TRUE(holder);
  EXPECT_THAT(holder->holder, HasSubstr("Ledger.entries (Map)"));
  EXPECT_EQ(holder->objects, 9000);
  EXPECT_EQ(holder->through, 9000);
  EXPECT_EQ(holder->path.labels.back(), "Voucher @1401");
  EXPECT_EQ(holder->path.objects[holder->step], 9000);
  EXPECT_EQ(holder->path.is_new.back(), 1);
}

TEST(HeapPage, ListsClassesAsTheSummaryDoes) {
  const HeapSession session = session_of({100, 300});
  const auto classes = answer_heap_classes(session, query(""));
  ASSERT_TRUE(classes);
  ASSERT_TRUE(classes->added);
  EXPECT_EQ(classes->names.size(), classes->rows_count);
  const auto row =
      static_cast<std::size_t>(std::ranges::find(classes->names, "Voucher") - classes->names.begin());
  ASSERT_LT(row, classes->names.size());
  EXPECT_EQ(classes->count[row], 300);
  EXPECT_EQ((*classes->before_count)[row], 100);
  EXPECT_EQ((*classes->added)[row], 200);
  EXPECT_EQ((*classes->retained_delta)[row], 200 * 64);
  EXPECT_FALSE(answer_heap_classes(session_of({5}), query(""))->added);
}

TEST(HeapPage, ShowsAnObjectWithBothEnds) {
  const HeapSession session = session_of({100, 300});
  const auto object = answer_heap_object(session, query("id=1401"));
  ASSERT_TRUE(object);
  EXPECT_EQ(object->class_name, "Voucher");
  EXPECT_TRUE(object->is_new);
  EXPECT_EQ(object->retained, 64);
  EXPECT_THAT(object->properties.names, ElementsAre("number"));
  EXPECT_THAT(object->properties.labels, ElementsAre("\"text\" @1403"));
  EXPECT_THAT(object->retainers.id, ElementsAre(13));
  EXPECT_EQ(object->dominators.front(), 1);
  EXPECT_EQ(object->dominators.back(), 1401);
  EXPECT_EQ(*answer_heap_object(session, query("id=1403"))->text, "text");
  const auto map = answer_heap_object(session, query("id=13&properties=250"));
  EXPECT_EQ(map->properties.rows_count, 300u);
  EXPECT_EQ(map->properties.names.size(), 50u);
  for (const char* wrong : {"", "id=", "id=2", "id=-1", "id=x", "id=1401&properties=x"})
    EXPECT_FALSE(answer_heap_object(session, query(wrong))) << wrong;
}

TEST(HeapPage, DominatorsAddUp) {
  const HeapSession session = session_of({100, 300});
  const auto tree = answer_heap_dominators(session, query(""));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->total, session.heap().total_bytes());
  EXPECT_THAT(tree->labels, Contains("Voucher × 300"));
  ASSERT_TRUE(tree->fresh);
  std::vector<double> below(tree->labels.size());
  for (std::size_t i = 1; i < tree->labels.size(); ++i) {
    const std::uint32_t parent = tree->parent[i];
    ASSERT_LT(parent, i);
    EXPECT_EQ(tree->depth[i], tree->depth[parent] + 1);
    EXPECT_GE(tree->start[i], tree->start[parent]);
    EXPECT_LE((*tree->fresh)[i], tree->retained[i]);
    below[parent] += tree->retained[i];
  }
  for (std::size_t i = 0; i < below.size(); ++i) EXPECT_LE(below[i], tree->retained[i]);
  const auto part = answer_heap_dominators(session, query("id=11"));
  EXPECT_EQ(part->total, session.heap().retained_size(5));
  EXPECT_FALSE(answer_heap_dominators(session, query("id=2")));
}

TEST(HeapPage, ObjectsOfAClassLargestFirst) {
  const HeapSession session = session_of({100, 400});
  const auto about = answer_heap_about(session, query(""));
  const std::string of_class = fmt::format("class={}", *about->heap_class);
  EXPECT_EQ(answer_heap_objects(session, query(of_class))->rows_count, 400u);
  const auto fresh = answer_heap_objects(session, query(of_class + "&new=1&from=250"));
  EXPECT_EQ(fresh->rows_count, 300u);
  EXPECT_EQ(fresh->labels.size(), 50u);
  for (const char* wrong : {"", "class=100000", "class=x"}) {
    EXPECT_FALSE(answer_heap_objects(session, query(wrong))) << wrong;
    EXPECT_FALSE(answer_heap_holder(session, query(wrong))) << wrong;
  }
}

TEST(HeapPage, AReportAsksWhatItShows) {
  const HeapSession session = session_of({100, 400});
  const auto questions = questions_of_a_report(session);
  EXPECT_THAT(questions, Contains("view=about"));
  EXPECT_THAT(questions, Contains("view=object&id=1401"));
  for (const std::string& question : questions)
    EXPECT_THAT(session.ask(question), Not(HasSubstr("\"error\""))) << question;
  EXPECT_THAT(session.ask("view=flame"), HasSubstr("\"error\""));
  EXPECT_THAT(wire_types(), HasSubstr("export interface HeapReplies {\n  about: HeapAbout;"));
}

}  // namespace
}  // namespace nodescope::page
