#include "model/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::profile_of;
using testing::to_text;

TEST(StackTable, SharesPrefixesAndNumbersCallersBeforeCallees) {
  StackTable stacks;
  const FrameId main{1};
  const FrameId read{2};
  const StackId outer = stacks.push(kEmptyStack, main);
  const StackId inner = stacks.push(outer, read);
  EXPECT_EQ(stacks.push(kEmptyStack, main), outer);
  EXPECT_LT(stacks.caller(inner), inner);
  EXPECT_EQ(stacks.unwind(inner), (std::vector{main, read}));
  EXPECT_TRUE(stacks.unwind(kEmptyStack).empty());
}

TEST(StackTable, WithOtherFramesHasTheSameStacks) {
  StackTable stacks;
  const StackId outer = stacks.push(kEmptyStack, FrameId{0});
  const StackId first = stacks.push(outer, FrameId{1});
  const StackId second = stacks.push(outer, FrameId{2});
  StackTable renamed = std::move(stacks).with_frames(std::array{FrameId{7}, FrameId{0}, FrameId{1}});
  EXPECT_EQ(renamed.unwind(second), (std::vector{FrameId{7}, FrameId{1}}));
  EXPECT_EQ(renamed.push(kEmptyStack, FrameId{7}), outer);
  EXPECT_EQ(renamed.push(outer, FrameId{0}), first);
  EXPECT_EQ(renamed.push(outer, FrameId{1}), second);
  EXPECT_EQ(renamed.push(outer, FrameId{2}), StackId{4});
}

TEST(StackTable, KnowsEveryCalleeOfAStack) {
  StackTable stacks;
  const StackId main = stacks.push(kEmptyStack, FrameId{0});
  const StackId other = stacks.push(kEmptyStack, FrameId{1});
  std::vector<StackId> callees;
  for (std::size_t i = 0; i < 1000; ++i) {
    callees.push_back(stacks.push(main, FrameId{i}));
    stacks.push(other, FrameId{i});
  }
  EXPECT_EQ(stacks.size(), 2003u);
  for (std::size_t i = 0; i < callees.size(); ++i) {
    EXPECT_EQ(stacks.push(main, FrameId{i}), callees[i]);
    EXPECT_EQ(stacks.caller(callees[i]), main);
    EXPECT_EQ(stacks.frame(callees[i]), FrameId{i});
  }
  EXPECT_EQ(stacks.size(), 2003u);
}

TEST(SampleTable, SixteenBytesASampleWhereTheWeightIsConstant) {
  SampleTable samples;
  const ContextId a = samples.intern({ThreadId{1}, 0, EventId{}});
  const ContextId b = samples.intern({ThreadId{2}, 1, EventId{}});
  constexpr std::size_t kCount = 1 << 16;
  for (std::size_t i = 0; i < kCount; ++i) {
    samples.add(static_cast<std::int64_t>(i) * 10, StackId{i % 100}, i % 2 == 0 ? a : b, 10'101'010);
  }
  EXPECT_EQ(samples.memory_bytes() / kCount, 16u);
  EXPECT_EQ(samples[3], (Sample{30, StackId{3}, {ThreadId{2}, 1, EventId{}}, 10'101'010}));
}

TEST(SampleTable, KeepsEarlierValuesWhenAColumnStopsBeingConstant) {
  SampleTable samples;
  samples.add({5, StackId{1}, {}, 7});
  samples.add({5, StackId{1}, {}, 7});
  samples.add({5, StackId{1}, {}, 9});
  EXPECT_EQ(samples.weight(1), 7u);
  EXPECT_EQ(samples.weight(2), 9u);
}

TEST(SampleTable, SortsByTimeAndKeepsTheOrderOfEqualTimes) {
  SampleTable samples;
  samples.add({20, StackId{1}, {}, 1});
  samples.add({10, StackId{2}, {}, 1});
  samples.add({10, StackId{3}, {}, 1});
  EXPECT_FALSE(samples.is_sorted_by_time());
  samples.sort_by_time();
  EXPECT_TRUE(samples.is_sorted_by_time());
  EXPECT_EQ(samples.stack(0), StackId{2});
  EXPECT_EQ(samples.stack(1), StackId{3});
  EXPECT_EQ(samples.stack(2), StackId{1});
}

TEST(Profile, HasAnUnknownProcessAndThreadFromTheStart) {
  const Profile profile;
  EXPECT_EQ(profile.process(ProcessId{}).pid, 0);
  EXPECT_EQ(profile.thread(ThreadId{}).process, ProcessId{});
}

TEST(Profile, TellsThreadsApartByProcessNumberAndName) {
  Profile profile;
  const ProcessId node = profile.intern_process(7, "node");
  const ThreadId main = profile.intern_thread(node, 7, "node");
  EXPECT_EQ(profile.intern_thread(node, 7, "node"), main);
  EXPECT_NE(profile.intern_thread(node, 8, "node"), main);
  EXPECT_NE(profile.intern_thread(node, 7, "libuv-worker"), main);
  EXPECT_NE(profile.intern_thread(profile.intern_process(9, "node"), 7, "node"), main);
}

TEST(Profile, SurvivesMoreEventsThanASampleCanName) {
  Profile profile;
  EventId last;
  for (int i = 0; i < 1000; ++i) last = profile.intern_event("event " + std::to_string(i), Unit::kCount);
  EXPECT_EQ(profile.events().size(), 255u);
  EXPECT_EQ(last, EventId{254});
  EXPECT_TRUE(profile.diagnostics.has(Severity::kWarning));
}

TEST(Append, AddsSamplesUnderTheirOwnNames) {
  Profile both = profile_of("main;a 1\nmain;b 2");
  Profile second = profile_of("other;b 4\nmain;b 8");
  second.lost_samples = 3;
  append(both, second);
  Profile expected = profile_of("main;a 1\nmain;b 2\nother;b 4\nmain;b 8");
  expected.lost_samples = 3;
  EXPECT_EQ(to_text(both), to_text(expected));
}

// Neighbours out of order, parts out of order, and no order at all: always what a stable sort gives.
TEST(SampleTable, SortsByTimeHoweverItIsDisordered) {
  std::mt19937 random(3);
  for (const int disorder : {0, 3, 50, 3000}) {
    for (const bool constant : {true, false}) {
      SampleTable table;
      std::vector<std::pair<std::int64_t, std::uint32_t>> expected;
      for (std::uint32_t i = 0; i < 3000; ++i) {
        const auto late =
            static_cast<std::int64_t>(disorder == 0 ? 0 : random() % static_cast<unsigned>(disorder));
        const std::int64_t time = i / 2 - late;
        expected.emplace_back(time, i);
        table.add({time,
                   StackId{i},
                   {ThreadId{}, constant ? 0 : static_cast<std::int32_t>(i % 3), EventId{}},
                   constant ? 5 : std::uint64_t{i}});
      }
      std::ranges::stable_sort(expected, {}, [](const auto& sample) { return sample.first; });
      table.sort_by_time();
      ASSERT_TRUE(table.is_sorted_by_time());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(table.time_ns(i), expected[i].first);
        ASSERT_EQ(table.stack(i).value, expected[i].second);
        ASSERT_EQ(table.weight(i), constant ? 5 : expected[i].second);
        ASSERT_EQ(table.context(i).cpu, constant ? 0 : static_cast<std::int32_t>(expected[i].second % 3));
      }
    }
  }
}

TEST(SampleTable, AppendsColumnsAsSingleSamples) {
  const std::vector<std::int64_t> times = {1, 2, 2, 9};
  const std::vector<StackId> stacks = {StackId{1}, StackId{2}, StackId{1}, StackId{3}};
  const std::vector<std::uint64_t> equal = {4, 4, 4, 4};
  const std::vector<std::uint64_t> various = {4, 4, 5, 4};
  SampleTable table;
  const ContextId context = table.intern({ThreadId{2}, 1, EventId{}});
  const std::vector<ContextId> contexts(4, context);
  table.append({});
  table.append({times, stacks, contexts, equal});
  EXPECT_TRUE(table.is_sorted_by_time());
  EXPECT_TRUE(table.weights().is_constant());
  table.append({times, stacks, contexts, various});
  EXPECT_FALSE(table.is_sorted_by_time());
  ASSERT_EQ(table.size(), 8u);
  EXPECT_EQ(table[2], (Sample{2, StackId{1}, {ThreadId{2}, 1, EventId{}}, 4}));
  EXPECT_EQ(table[6], (Sample{2, StackId{1}, {ThreadId{2}, 1, EventId{}}, 5}));
}

TEST(Profile, AppendingKeepsTheFirstTextOfASource) {
  Profile into;
  into.sources.push_back({into.strings.intern("/a.js"), "first"});
  Profile from;
  from.sources.push_back({from.strings.intern("/b.js"), "other"});
  from.sources.push_back({from.strings.intern("/a.js"), "second"});
  append(into, from);
  ASSERT_EQ(into.sources.size(), 2u);
  EXPECT_EQ(into.find_source("/a.js")->text, "first");
  EXPECT_EQ(into.find_source("/b.js")->text, "other");
  EXPECT_EQ(into.find_source("/c.js"), nullptr);
}

}  // namespace
}  // namespace nodescope
