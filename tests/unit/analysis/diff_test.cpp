#include "analysis/diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::profile_of;

std::string folded(const Diff& diff) {
  StringSink sink;
  EXPECT_TRUE(diff.write_folded(sink));
  return sink.text();
}

Diff diff_of(std::string_view before, std::string_view after, const DiffOptions& options = {}) {
  return derive_diff(profile_of(before), profile_of(after), options);
}

void expect_golden(const std::string& name, const DiffOptions& options) {
  const std::string folder = "tests/golden/diff/" + name + "/";
  const Diff diff =
      derive_diff(testing::plain_profile_of(testing::read_test_file(folder + "before")),
                  testing::plain_profile_of(testing::read_test_file(folder + "after")), options);
  EXPECT_EQ(folded(diff), testing::read_test_file(folder + "expected"));
}

TEST(Diff, PrintsWhatDifffoldedPrints) {
  DiffOptions options;
  expect_golden("plain", options);
  options.normalise = true;
  expect_golden("normalise", options);
  options.normalise = false;
  options.labels.strip_hex = true;
  expect_golden("strip-hex", options);
}

TEST(Diff, AccountsForOneSidedStacks) {
  const Diff diff = diff_of("a;b 3\na;c 4\nd 5", "a;b 6\ne 7\nf 1");
  EXPECT_EQ(diff.before_total(), 12u);
  EXPECT_EQ(diff.after_total(), 14u);
  EXPECT_EQ(diff.vanished(), (OneSided{2, 9}));
  EXPECT_EQ(diff.appeared(), (OneSided{2, 8}));
}

TEST(Diff, LeavesOutOneSidedStacksWhereAsked) {
  DiffOptions options;
  options.only_common = true;
  const Diff diff = diff_of("a;b 3\na;c 4\nd 5", "a;b 6\ne 7", options);
  EXPECT_EQ(folded(diff), "a;b 3 6\n");
  EXPECT_EQ(diff.left_out(), (OneSided{3, 16}));
  EXPECT_EQ(diff.before_unscaled(), 12u);
}

TEST(Diff, SaysThatUnitsDiffer) {
  Profile timed;
  const EventId cpu = timed.intern_event("cpu-clock", Unit::kNanoseconds);
  timed.samples.add({0, kEmptyStack, {ThreadId{}, kUnknownCpu, cpu}, 1000});
  const Profile counted = profile_of("a 3");
  constexpr std::string_view kWords = "units differ: only shares can be compared, with --normalize";
  EXPECT_EQ(derive_diff(counted, timed, {}).diagnostics().count(kWords), 1u);
  EXPECT_EQ(derive_diff(timed, timed, {}).diagnostics().count(kWords), 0u);
  DiffOptions options;
  options.normalise = true;
  EXPECT_EQ(derive_diff(counted, timed, options).diagnostics().count(kWords), 0u);
}

TEST(Diff, ScalesTheFirstProfile) {
  DiffOptions options;
  options.normalise = true;
  const Diff diff = diff_of("a 10\nb 30", "a 10\nb 10", options);
  EXPECT_EQ(folded(diff), "a 5 10\nb 15 10\n");
  EXPECT_EQ(diff.before_total(), 20u);
  EXPECT_EQ(diff.before_unscaled(), 40u);
  EXPECT_EQ(folded(diff_of("", "a 1", options)), "a 0 1\n");
}

TEST(Diff, NeverBreaksALine) {
  Profile before;
  before.intern_event("samples", Unit::kSamples);
  Frame frame;
  frame.function = before.strings.intern("a;b\nc");
  before.samples.add({0, before.stacks.push(kEmptyStack, before.frames.intern(frame)), {}, 2});
  EXPECT_EQ(folded(derive_diff(before, Profile(), {})), "a:b c 2 0\n");
}

TEST(Diff, ComparesTwoEventsOfOneProfile) {
  Profile both = profile_of("a;b 3\nc 1");
  const EventId after = both.intern_event("after", Unit::kSamples);
  both.samples.add({0, both.samples.stack(0), {ThreadId{}, kUnknownCpu, after}, 9});
  DiffOptions options;
  options.after_event = after;
  EXPECT_EQ(folded(derive_diff(both, both, options)), "a;b 3 9\nc 1 0\n");
}

std::string draw(const CallTree& tree) {
  std::string text;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallChange& change = tree.changes[i];
    text += fmt::format("{} {}+{} {}>{} self {}>{}\n", tree.text(tree.nodes[i]), tree.nodes[i].start,
                        tree.nodes[i].total, change.before_total, change.after_total, change.before_self,
                        change.after_self);
  }
  return text;
}

TEST(DiffTree, HasBothSidesOfEveryBox) {
  const Diff diff = diff_of("a;b 3\na;c 4\na 1", "a;b 6\na 2\nd 1");
  DiffTreeOptions options;
  EXPECT_EQ(draw(diff.derive_tree(options)),
            " 0+9 8>9 self 0>0\n"
            "a 0+8 8>8 self 1>2\n"
            "d 8+1 0>1 self 0>1\n"
            "b 2+6 3>6 self 3>6\n");
  options.width = DiffWidth::kBefore;
  EXPECT_EQ(draw(diff.derive_tree(options)),
            " 0+8 8>9 self 0>0\n"
            "a 0+8 8>8 self 1>2\n"
            "b 1+3 3>6 self 3>6\n"
            "c 4+4 4>0 self 4>0\n");
  options.width = DiffWidth::kBoth;
  const CallTree both = diff.derive_tree(options);
  EXPECT_EQ(both.nodes.size(), 5u);
  EXPECT_EQ(both.total(), diff.width_total(DiffWidth::kBoth));
  EXPECT_EQ(both.largest_self_change, 4u);
}

TEST(DiffTree, SaysWhatItCannotShow) {
  const Diff diff = diff_of("a;b 3\na;c 1", "a;b 6\nd 2");
  DiffTreeOptions options;
  EXPECT_EQ(diff.derive_tree(options).note, "Vanished, so without a box: 1 stack, 25.00% of before");
  options.width = DiffWidth::kBefore;
  EXPECT_EQ(diff.derive_tree(options).note, "New, so without a box: 1 stack, 25.00% of after");
  options.width = DiffWidth::kBoth;
  EXPECT_EQ(diff.derive_tree(options).note, "");
}

TEST(DiffTree, CanBeReversed) {
  DiffTreeOptions options;
  options.reversed = true;
  EXPECT_EQ(draw(diff_of("a;b 3\nc;b 1", "a;b 5\nc;b 2").derive_tree(options)),
            " 0+7 4>7 self 0>0\n"
            "b 0+7 4>7 self 0>0\n"
            "a 0+5 3>5 self 3>5\n"
            "c 5+2 1>2 self 1>2\n");
}

TEST(DiffFunctions, AreSortedByTheirChange) {
  const Diff diff = diff_of("a;b 3\na;c;a 4\na 1\ngone 2", "a;b 6\na;c;a 4\na 9\nnew 1");
  const std::vector<DiffFunction> functions = diff.derive_functions();
  std::string text;
  for (const DiffFunction& f : functions) {
    text += fmt::format("{} {:+} {:+}{}{}\n", f.name, f.self_change(), f.total_change(),
                        f.vanished() ? " vanished" : "", f.appeared() ? " new" : "");
  }
  EXPECT_EQ(text, "a +8 +11\nb +3 +3\ngone -2 -2 vanished\nnew +1 +1 new\nc +0 +0\n");
}

// As text that would be 5e11 frames.
TEST(Diff, RefusesToWriteWithoutBounds) {
  Profile deep;
  deep.intern_event("samples", Unit::kSamples);
  Frame frame;
  frame.function = deep.strings.intern("f");
  StackId stack = kEmptyStack;
  for (int i = 0; i < 1'000'000; ++i) {
    stack = deep.stacks.push(stack, deep.frames.intern(frame));
    deep.samples.add({0, stack, {}, 1});
  }
  const Diff diff = derive_diff(deep, Profile(), {});
  StringSink sink;
  const auto written = diff.write_folded(sink);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kLimit);
  EXPECT_EQ(diff.derive_functions().size(), 1u);
}

}  // namespace
}  // namespace nodescope
