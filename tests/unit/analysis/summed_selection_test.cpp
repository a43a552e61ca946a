#include "analysis/summed_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/diff.h"
#include "analysis/function_table.h"

namespace nodescope {
namespace {

// Random stacks of few functions, on four threads, with weights; in the order of time or not.
Profile recording(bool sorted, Unit unit = Unit::kNanoseconds, bool one_weight = false) {
  Profile profile;
  std::mt19937 random(7);
  const EventId cpu = profile.intern_event("cpu-clock", unit);
  const EventId other = profile.intern_event("faults", Unit::kCount);
  const ProcessId process = profile.intern_process(10, "node");
  std::vector<ThreadId> threads;
  for (int i = 0; i < 4; ++i) threads.push_back(profile.intern_thread(process, 10 + i, "thread"));
  for (int i = 0; i < 3000; ++i) {
    StackId stack = kEmptyStack;
    const auto depth = random() % 6;
    for (unsigned k = 0; k < depth; ++k) {
      Frame frame;
      frame.kind = static_cast<FrameKind>(random() % 4);
      // Boxes of equal names are ordered by number, which differs: so a name has one kind.
      frame.function = profile.strings.intern("f" + std::to_string(random() % 5) + "of" +
                                              std::to_string(static_cast<int>(frame.kind)));
      if (frame.kind == FrameKind::kJs) frame.file = profile.strings.intern("/app/x.js");
      frame.tier = static_cast<JsTier>(random() % 3);
      stack = profile.stacks.push(stack, profile.frames.intern(frame));
    }
    const std::int64_t time = sorted ? 1000 * i : static_cast<std::int64_t>(random() % 3'000'000);
    profile.samples.add(
        {time,
         stack,
         {threads[random() % 4], static_cast<std::int32_t>(random() % 2), random() % 8 == 0 ? other : cpu},
         one_weight ? 7 : random() % 100});
  }
  return profile;
}

std::vector<Selection> selections() {
  std::vector<Selection> all(9);
  all[1].time = TimeRange{500'000, 1'250'000};
  all[2].threads = {ThreadId{2}, ThreadId{4}};
  all[3].include = {"f[12]"};
  all[3].exclude = {"f4"};
  all[4].kinds = {FrameKind::kJs, FrameKind::kUnknown};
  all[5].only_my_code = true;
  all[6].fold_event_loop = true;
  all[7].event = EventId{1};
  all[8].time = TimeRange{-5, 0};
  return all;
}

using Box = std::tuple<std::string, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>;

std::vector<Box> boxes(const CallTree& tree) {
  std::vector<Box> all;
  for (const CallNode& node : tree.nodes) {
    all.emplace_back(tree.text(node), node.depth, node.start, node.total, node.self);
  }
  return all;
}

std::vector<Box> rows(const FunctionTable& table) {
  std::vector<Box> all;
  for (const FunctionRow& row : table.rows) {
    all.emplace_back(row.name, static_cast<std::uint32_t>(row.kind), 0, row.total, row.self);
  }
  return all;
}

// What a view of the samples themselves shows, a view of the sums must show too.
TEST(SummedSelection, GivesTheSameViewsAsTheSamples) {
  for (const int form : {0, 1, 2, 3}) {
    const Profile profile = recording(form % 2 == 0, Unit::kNanoseconds, form >= 2);
    for (const Selection& selection : selections()) {
      for (const CountBy count : {CountBy::kWeight, CountBy::kSamples}) {
        const auto selected = copy_selection(profile, selection);
        ASSERT_TRUE(selected);
        CallTreeOptions tree;
        // A selection of one event has only that one.
        tree.count = count;
        FunctionTableOptions table;
        table.count = count;

        const auto sums = derive_sums(profile, selection, {count, true});
        ASSERT_TRUE(sums);
        EXPECT_EQ(sums->samples, selected->accounting.shown);
        CallTreeOptions summed_tree;
        FunctionTableOptions summed_table;
        for (const RootBy root : {RootBy::kNone, RootBy::kThread}) {
          tree.root = summed_tree.root = root;
          EXPECT_EQ(boxes(derive_call_tree(sums->profile, summed_tree)),
                    boxes(derive_call_tree(selected->profile, tree)));
        }
        for (const GroupBy group : {GroupBy::kFunction, GroupBy::kKind, GroupBy::kThread}) {
          table.group = summed_table.group = group;
          EXPECT_EQ(rows(derive_function_table(sums->profile, summed_table)),
                    rows(derive_function_table(selected->profile, table)));
        }
        const auto together = derive_sums(profile, selection, {count, false});
        ASSERT_TRUE(together);
        EXPECT_EQ(together->by_stack, sums->by_stack);
        EXPECT_LE(together->profile.samples.size(), profile.stacks.size());
      }
    }
  }
}

TEST(SummedSelection, CountsSamplesInTheUnitOfSamples) {
  const Profile profile = recording(true);
  EXPECT_EQ(derive_sums(profile, {}, {CountBy::kSamples, false})->profile.events().front().unit,
            Unit::kSamples);
  EXPECT_EQ(derive_sums(profile, {}, {})->profile.events().front().unit, Unit::kNanoseconds);
  // Where the unit is samples already, a weight is how many there were.
  const Profile counted = recording(true, Unit::kSamples);
  EXPECT_EQ(derive_sums(counted, {}, {CountBy::kSamples, false})->by_stack,
            derive_sums(counted, {}, {})->by_stack);
}

TEST(SummedSelection, ClipsSumsThatWouldOverflow) {
  Profile profile;
  const EventId event = profile.intern_event("bytes", Unit::kBytes);
  for (int i = 0; i < 5; ++i) profile.samples.add({i, kEmptyStack, {ThreadId{}, 0, event}, UINT64_MAX / 2});
  const auto sums = derive_sums(profile, {}, {});
  ASSERT_TRUE(sums);
  EXPECT_TRUE(sums->clipped);
  EXPECT_EQ(sums->by_stack[0], std::uint64_t{1} << 62);
}

TEST(SummedSelection, OfNothingIsEmpty) {
  const Profile nothing;
  const auto sums = derive_sums(nothing, {}, {});
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->samples, 0u);
  EXPECT_EQ(sums->profile.samples.size(), 0u);
  Selection wrong;
  wrong.event = EventId{1};
  EXPECT_FALSE(derive_sums(nothing, wrong, {}));
  wrong = {};
  wrong.include = {"("};
  EXPECT_FALSE(derive_sums(nothing, wrong, {}));
}

}  // namespace
}  // namespace nodescope
