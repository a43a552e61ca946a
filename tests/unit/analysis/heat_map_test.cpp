#include "analysis/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analysis/overview.h"

namespace nodescope {
namespace {

using ::testing::ElementsAre;

struct At {
  std::int64_t ms;
  FrameKind kind;
  int thread = 0;
};

Profile profile_of(const std::vector<At>& samples) {
  Profile profile;
  const EventId event = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const ProcessId process = profile.intern_process(10, "node");
  for (const At& at : samples) {
    Frame frame;
    frame.kind = at.kind;
    frame.function = profile.strings.intern("f" + std::to_string(static_cast<int>(at.kind)));
    const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
    const ThreadId thread = profile.intern_thread(process, 10 + at.thread, "node");
    profile.samples.add({1'000'000'000 + at.ms * 1'000'000, stack, {thread, 0, event}, 10});
  }
  return profile;
}

HeatMap heat(const Profile& profile, const Selection& selection = {}, std::int64_t column_ms = 100,
             std::uint32_t rows = 2, const Pattern* search = nullptr) {
  const auto map =
      derive_heat_map(profile, derive_causes(profile), selection, {column_ms * 1'000'000, rows, search});
  EXPECT_TRUE(map) << map.error().message;
  return *map;
}

constexpr FrameKind kJs = FrameKind::kJs;
constexpr FrameKind kGc = FrameKind::kGc;

TEST(HeatMap, CountsByCellFromTheFirstSample) {
  const HeatMap map = heat(profile_of({{0, kJs}, {49, kJs}, {50, kJs}, {99, kJs}, {100, kJs}, {260, kJs}}));
  EXPECT_EQ(map.columns, 3u);
  EXPECT_THAT(map.count, ElementsAre(2, 2, 1, 0, 0, 1));
  EXPECT_THAT(map.cause, ElementsAre(0, 0, 0, kEmptyCell, kEmptyCell, 0));
  EXPECT_EQ(map.maximum, 2u);
  EXPECT_EQ(map.p995, 2u);
}

TEST(HeatMap, NamesTheLargestCauseOtherThanJavaScript) {
  const HeatMap map = heat(profile_of(
      {{0, kJs}, {1, kJs}, {2, kGc}, {50, kJs}, {51, kJs}, {52, kJs}, {53, kGc}, {54, FrameKind::kKernel}}));
  EXPECT_THAT(map.cause, ElementsAre(static_cast<int>(Cause::kGc), static_cast<int>(Cause::kJs)));
  EXPECT_THAT(map.share, ElementsAre(85, 153));
}

TEST(HeatMap, DoesNotDependOnTheOrderOfSamples) {
  const HeatMap sorted = heat(profile_of({{0, kJs}, {60, kGc}, {61, kJs}, {150, kJs}}));
  const HeatMap shuffled = heat(profile_of({{61, kJs}, {150, kJs}, {0, kJs}, {60, kGc}}));
  EXPECT_EQ(sorted.count, shuffled.count);
  EXPECT_EQ(sorted.cause, shuffled.cause);
}

TEST(HeatMap, ShowsTheSelectionOnly) {
  Selection selection;
  selection.time = TimeRange{120'000'000, 320'000'000};
  const HeatMap map = heat(profile_of({{0, kJs}, {110, kJs}, {130, kJs}, {310, kJs}, {330, kJs}}), selection);
  EXPECT_EQ(map.first_column_ns, 100'000'000);
  EXPECT_THAT(map.count, ElementsAre(1, 0, 0, 0, 1, 0));
}

TEST(HeatMap, CountsWhatASearchFinds) {
  const auto search = Pattern::parse("F5", true);
  const HeatMap map = heat(profile_of({{0, kJs}, {1, kGc}, {60, kGc}}), {}, 100, 2, &*search);
  EXPECT_THAT(map.matched, ElementsAre(1, 1));
}

TEST(HeatMap, RefusesWhatIsTooLarge) {
  const Profile profile = profile_of({{0, kJs}, {10'000'000, kJs}});
  EXPECT_FALSE(derive_heat_map(profile, derive_causes(profile), {}, {1'000'000, 50, nullptr}));
  EXPECT_FALSE(derive_heat_map(profile, derive_causes(profile), {}, {0, 50, nullptr}));
  EXPECT_FALSE(derive_heat_map(profile, derive_causes(profile), {}, {1'000, 0, nullptr}));
}

TEST(HeatMap, SurvivesTimesAtTheEnds) {
  Profile profile;
  const EventId event = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  for (const std::int64_t time : {INT64_MIN, std::int64_t{0}, INT64_MAX}) {
    profile.samples.add({time, kEmptyStack, {ThreadId{}, 0, event}, 1});
  }
  const HeatMap map = heat(profile, {}, 1'000'000'000'000, 1);
  EXPECT_GE(map.count[0], 1u);
  EXPECT_TRUE(derive_lanes(profile, derive_overview(profile), derive_causes(profile), {}, 10));
}

TEST(ThreadLanes, CountByThreadBinAndCause) {
  const Profile profile = profile_of({{0, kJs, 0}, {50, kGc, 1}, {100, kJs, 0}});
  const auto lanes = derive_lanes(profile, derive_overview(profile), derive_causes(profile), {}, 2);
  ASSERT_TRUE(lanes);
  ASSERT_EQ(lanes->count.size(), 3 * 2 * kCauseCount);  // and the unknown thread
  const auto count = [&](std::size_t thread, std::size_t bin, Cause cause) {
    return lanes->count[(thread * 2 + bin) * kCauseCount + static_cast<std::size_t>(cause)];
  };
  EXPECT_EQ(count(1, 0, Cause::kJs), 1u);
  EXPECT_EQ(count(1, 1, Cause::kJs), 1u);
  EXPECT_EQ(count(2, 0, Cause::kGc) + count(2, 1, Cause::kGc), 1u);
  EXPECT_FALSE(derive_lanes(profile, derive_overview(profile), derive_causes(profile), {}, 0));
}

// A recording says how much CPU time was used however it was sampled.
TEST(ThreadLanes, MeasureByWeightWhereThatIsTime) {
  Profile profile;
  const EventId event = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const ThreadId thread = profile.intern_thread(profile.intern_process(1, "node"), 1, "node");
  // Ten milliseconds apart, of which a quarter each was used.
  for (int i = 0; i <= 40; ++i)
    profile.samples.add({i * 10'000'000, kEmptyStack, {thread, kUnknownCpu, event}, 2'500'000});
  const auto lanes = derive_lanes(profile, derive_overview(profile), derive_causes(profile), {}, 4);
  ASSERT_TRUE(lanes);
  EXPECT_EQ(std::accumulate(lanes->cpu_ns.begin(), lanes->cpu_ns.end(), 0.0), 41 * 2.5e6);
}

TEST(Overview, TellsThreadsTimesAndRate) {
  std::vector<At> samples;
  for (int i = 0; i < 50; ++i) samples.push_back({i * 10, kJs, 0});
  samples.push_back({495, FrameKind::kUnknown, 1});
  Profile profile = profile_of(samples);
  const Overview overview = derive_overview(profile);
  EXPECT_EQ(overview.accounting.taken, 51u);
  EXPECT_EQ(overview.resolution, (Resolution{51, 0, 0}));
  EXPECT_EQ(overview.duration_ns, 495'000'000);
  EXPECT_EQ(overview.threads[1], (ThreadOverview{50, true, ThreadRole::kMain}));
  EXPECT_EQ(overview.threads[2], (ThreadOverview{1, false, ThreadRole::kOther}));
  EXPECT_TRUE(overview.rate_estimated);
  EXPECT_NEAR(overview.rate_hz, 100, 0.01);
  profile.facts["rate"] = "997 Hz";
  EXPECT_EQ(derive_overview(profile).rate_hz, 997);
}

TEST(Overview, CountsHowMuchIsKnown) {
  Profile profile;
  const EventId event = profile.intern_event("cpu-clock", Unit::kSamples);
  Frame known;
  known.kind = FrameKind::kJs;
  known.file = profile.strings.intern("/app/lib/a.js");
  Frame other = known;
  other.file = profile.strings.intern("/app/lab/b.js");
  const StackId js = profile.stacks.push(kEmptyStack, profile.frames.intern(known));
  const StackId both = profile.stacks.push(js, profile.frames.intern(Frame{}));
  const StackId none = profile.stacks.push(kEmptyStack, profile.frames.intern(Frame{}));
  const StackId second = profile.stacks.push(js, profile.frames.intern(other));
  for (const StackId stack : {js, both, none, second, kEmptyStack}) {
    profile.samples.add({0, stack, {ThreadId{}, 0, event}, 1});
  }
  const Overview overview = derive_overview(profile);
  EXPECT_EQ(overview.resolution, (Resolution{2, 1, 2}));
  EXPECT_EQ(overview.app_root, "/app/");
  EXPECT_EQ(overview.duration_ns, 0);
}

}  // namespace
}  // namespace nodescope
