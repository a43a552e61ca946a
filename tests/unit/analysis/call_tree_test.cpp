#include "analysis/call_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::profile_of;

// "name start+total(self)" in order, a level per line.
std::string draw(const CallTree& tree) {
  std::string text;
  std::uint32_t depth = 0;
  for (const CallNode& node : tree.nodes) {
    if (node.depth != depth) text += "\n";
    depth = node.depth;
    text += fmt::format("{} {}+{}({}) ", tree.text(node), node.start, node.total, node.self);
  }
  return text;
}

void check(const CallTree& tree) {
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const CallNode& node = tree.nodes[i];
    std::uint64_t below = 0;
    for (std::uint32_t k = 0; k < node.child_count; ++k) {
      const CallNode& child = tree.nodes[node.first_child + k];
      EXPECT_EQ(child.parent, i);
      EXPECT_EQ(child.depth, node.depth + 1);
      EXPECT_GE(child.start, node.start);
      EXPECT_LE(child.start + child.total, node.start + node.total);
      below += child.total;
    }
    EXPECT_LE(below + node.self, node.total);
  }
  EXPECT_EQ(tree.traits.size(), tree.nodes.size());
}

CallTree tree_of(std::string_view folded, const CallTreeOptions& options = {}) {
  CallTree tree = derive_call_tree(profile_of(folded), options);
  check(tree);
  return tree;
}

TEST(CallTree, SumsStacks) {
  EXPECT_EQ(draw(tree_of("main;parse;read 3\nmain;idle 1\nmain;parse 2\nmain 4")),
            " 0+10(0) \n"
            "main 0+10(4) \n"
            "idle 4+1(1) parse 5+5(2) \n"
            "read 7+3(3) ");
}

TEST(CallTree, OfNothingIsItsRoot) {
  const CallTree tree = derive_call_tree(Profile(), {});
  ASSERT_EQ(tree.nodes.size(), 1u);
  EXPECT_EQ(tree.total(), 0u);
}

TEST(CallTree, KeepsSamplesWithoutFrames) {
  Profile profile = profile_of("main 3");
  profile.samples.add({0, kEmptyStack, {ThreadId{}, kUnknownCpu, EventId{}}, 4});
  EXPECT_EQ(draw(derive_call_tree(profile, {})), " 0+7(4) \nmain 4+3(3) ");
}

TEST(CallTree, MergesFramesWithTheSameLabel) {
  Profile profile;
  const EventId event = profile.intern_event("samples", Unit::kSamples);
  for (const JsTier tier : {JsTier::kInterpreted, JsTier::kTurbofan, JsTier::kBaseline}) {
    Frame frame;
    frame.kind = FrameKind::kJs;
    frame.function = profile.strings.intern("fib");
    frame.tier = tier;
    const StackId outer = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
    const StackId stack = profile.stacks.push(outer, profile.frames.intern(frame));
    profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, event}, tier == JsTier::kTurbofan ? 7u : 2u});
  }
  const CallTree merged = derive_call_tree(profile, {});
  EXPECT_EQ(draw(merged), " 0+11(0) \nfib 0+11(0) \nfib 0+11(11) ");
  EXPECT_EQ(merged.traits[1].tier, JsTier::kTurbofan);  // most of it
  CallTreeOptions apart;
  apart.labels.merge_tiers = false;
  EXPECT_EQ(derive_call_tree(profile, apart).nodes.size(), 7u);
}

TEST(CallTree, LeavesOutWhatIsTooSmall) {
  CallTreeOptions options;
  options.min_total = 3;
  const CallTree tree = tree_of("main;a;x 2\nmain;a;y 2\nmain;b 2\nmain;c;z 3", options);
  EXPECT_EQ(draw(tree), " 0+9(0) \nmain 0+9(0) \na 0+4(0) c 6+3(0) \nz 6+3(3) ");
}

TEST(CallTree, PutsCallersAboveCalleesWhenReversed) {
  CallTreeOptions options;
  options.reversed = true;
  EXPECT_EQ(draw(tree_of("main;parse;read 3\nmain;read 2\nmain;parse 4", options)),
            " 0+9(0) \n"
            "parse 0+4(0) read 4+5(0) \n"
            "main 0+4(4) main 4+2(2) parse 6+3(0) \n"
            "main 6+3(3) ");
}

TEST(CallTree, CollapsesRecursion) {
  CallTreeOptions options;
  options.collapse_recursion = true;
  const std::string_view stacks = "a;f;f;f;b 3\na;f;b;b 2\na;f;f 1";
  EXPECT_EQ(draw(tree_of(stacks, options)), " 0+6(0) \na 0+6(0) \nf 0+6(1) \nb 1+5(5) ");
  options.reversed = true;
  EXPECT_EQ(draw(tree_of(stacks, options)), " 0+6(0) \nb 0+5(0) f 5+1(0) \nf 0+5(0) a 5+1(1) \na 0+5(5) ");
}

TEST(CallTree, KeepsTheOrderOfTimeInAChart) {
  CallTreeOptions options;
  options.time_order = true;
  EXPECT_EQ(draw(tree_of("main;a 1\nmain;b;x 2\nmain 3\nmain;b;y 4\nmain;a 5\nmain;a 6", options)),
            " 0+21(0) \n"
            "main 0+21(3) \n"
            "a 0+1(1) b 1+2(0) b 6+4(0) a 10+11(11) \n"
            "x 1+2(2) y 6+4(4) ");
  options.min_total = 3;
  EXPECT_EQ(draw(tree_of("main;a 1\nmain;b;x 2\nmain;c 3", options)), " 0+6(0) \nmain 0+6(0) \nc 3+3(3) ");
}

TEST(CallTree, SortsAChartByTime) {
  Profile profile = profile_of("late 1\nearly 2");
  Profile timed;
  const EventId event = timed.intern_event("samples", Unit::kSamples);
  for (std::size_t i = 0; i < 2; ++i) {
    Frame frame;
    frame.function = timed.strings.intern(i == 0 ? "late" : "early");
    timed.samples.add({i == 0 ? 9 : 1,
                       timed.stacks.push(kEmptyStack, timed.frames.intern(frame)),
                       {ThreadId{}, kUnknownCpu, event},
                       i + 1});
  }
  CallTreeOptions options;
  options.time_order = true;
  EXPECT_EQ(draw(derive_call_tree(timed, options)), " 0+3(0) \nearly 0+2(2) late 2+1(1) ");
}

class Roots : public ::testing::Test {
 protected:
  Roots() {
    const EventId event = profile_.intern_event("samples", Unit::kSamples);
    Frame frame;
    frame.function = profile_.strings.intern("f");
    const StackId stack = profile_.stacks.push(kEmptyStack, profile_.frames.intern(frame));
    for (int i = 0; i < 4; ++i) {
      const ProcessId process = profile_.intern_process(10 + i / 2, "node");
      const ThreadId thread = profile_.intern_thread(process, 100 + i, i == 3 ? "worker" : "node");
      profile_.samples.add({0, stack, {thread, 0, event}, 1});
    }
    profile_.samples.add({0, stack, {ThreadId{}, 0, event}, 1});
  }
  std::string by(RootBy root) {
    CallTreeOptions options;
    options.root = root;
    const CallTree tree = derive_call_tree(profile_, options);
    check(tree);
    return draw(tree);
  }

  Profile profile_;
};

TEST_F(Roots, AreNamedAsAsked) {
  EXPECT_EQ(by(RootBy::kNone), " 0+5(0) \nf 0+5(5) ");
  EXPECT_EQ(by(RootBy::kThreadName), " 0+5(0) \nf 0+1(1) node 1+3(0) worker 4+1(0) \nf 1+3(3) f 4+1(1) ");
  EXPECT_EQ(
      by(RootBy::kProcess),
      " 0+5(0) \nf 0+1(1) node-10 1+2(0) node-11 3+1(0) worker-11 4+1(0) \nf 1+2(2) f 3+1(1) f 4+1(1) ");
  EXPECT_EQ(
      by(RootBy::kThread),
      " 0+5(0) \nf 0+1(1) node-10/100 1+1(0) node-10/101 2+1(0) node-11/102 3+1(0) worker-11/103 4+1(0) "
      "\nf 1+1(1) f 2+1(1) f 3+1(1) f 4+1(1) ");
}

TEST(CallTree, CountsSamplesOrWeights) {
  Profile profile = profile_of("");
  const EventId time = profile.intern_event("cpu", Unit::kNanoseconds);
  for (const EventId event : {EventId{}, time}) {
    profile.samples.add({0, kEmptyStack, {ThreadId{}, 0, event}, 1000});
    profile.samples.add({0, kEmptyStack, {ThreadId{}, 0, event}, 500});
  }
  EXPECT_EQ(derive_total(profile, time, CountBy::kWeight), 1500u);
  EXPECT_EQ(derive_total(profile, time, CountBy::kSamples), 2u);
  EXPECT_EQ(derive_total(profile, EventId{}, CountBy::kSamples), 1500u);  // folded lines: a weight is samples
  CallTreeOptions options;
  options.event = time;
  EXPECT_EQ(derive_call_tree(profile, options).unit, Unit::kNanoseconds);
  options.count = CountBy::kSamples;
  EXPECT_EQ(derive_call_tree(profile, options).unit, Unit::kSamples);
}

TEST(CallTree, ClipsCountsThatOverflow) {
  const CallTree tree = tree_of("a;b 18446744073709551615\na;c 18446744073709551615\nd 5");
  EXPECT_EQ(tree.total(), std::uint64_t{1} << 62);
  EXPECT_EQ(tree.diagnostics.entries().size(), 1u);
}

// A chain of `depth` frames; with `everywhere` every one of them has a sample.
Profile deep_profile(std::size_t depth, bool everywhere) {
  Profile profile;
  const EventId event = profile.intern_event("samples", Unit::kSamples);
  Frame frame;
  frame.function = profile.strings.intern("f");
  const FrameId id = profile.frames.intern(frame);
  StackId stack = kEmptyStack;
  for (std::size_t i = 0; i < depth; ++i) {
    stack = profile.stacks.push(stack, id);
    if (everywhere || i + 1 == depth) profile.samples.add({0, stack, {ThreadId{}, 0, event}, 1});
  }
  return profile;
}

TEST(CallTree, TakesAMillionFrames) {
  const Profile profile = deep_profile(1'000'000, false);
  EXPECT_EQ(derive_call_tree(profile, {}).depth(), 1'000'000u);
  CallTreeOptions options;
  options.reversed = true;
  EXPECT_EQ(derive_call_tree(profile, options).depth(), 1'000'000u);
  options.reversed = false;
  options.time_order = true;
  EXPECT_EQ(derive_call_tree(profile, options).depth(), 1'000'000u);
  options.collapse_recursion = true;
  EXPECT_EQ(derive_call_tree(profile, options).depth(), 1u);
}

// Reversed, this would have 5e11 nodes.
TEST(CallTree, CutsWhatWouldExplode) {
  const Profile profile = deep_profile(1'000'000, true);
  CallTreeOptions options;
  options.reversed = true;
  options.min_total = 1000;
  const CallTree reversed = derive_call_tree(profile, options);
  EXPECT_EQ(reversed.total(), 1'000'000u);
  EXPECT_LT(reversed.depth(), 1'000u);
  EXPECT_EQ(reversed.diagnostics.entries().size(), 1u);
  options.reversed = false;
  options.time_order = true;
  const CallTree chart = derive_call_tree(profile, options);
  EXPECT_EQ(chart.total(), 1'000'000u);
  EXPECT_LT(chart.depth(), 1'000u);
}

}  // namespace
}  // namespace nodescope
