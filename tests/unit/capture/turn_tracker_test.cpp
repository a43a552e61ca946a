#include "capture/turn_tracker.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// A loop of which we know everything, read at given moments.
class SimulatedLoop {
 public:
  explicit SimulatedLoop(bool counts_turns = true) : tracker(counts_turns, 10 * kMs) {}

  // It sleeps, then is busy until its next turn begins.
  void turn(double sleep_ms, double busy_ms) {
    if (sleep_ms > 0) {
      asleep_since_ = now_ns_;
      advance(sleep_ms);
      idle_ns_ += now_ns_ - *asleep_since_;
      asleep_since_.reset();
    }
    advance(busy_ms);
    ++turn_;
  }

  TurnTracker tracker;
  double read_every_ms = 2;
  std::uint64_t next_read_ns = kMs;

 private:
  void advance(double ms) {
    const std::uint64_t end = now_ns_ + static_cast<std::uint64_t>(ms * 1e6);
    for (; next_read_ns < end; next_read_ns += static_cast<std::uint64_t>(read_every_ms * 1e6)) {
      const LoopAccount account{turn_, asleep_since_.value_or(0), idle_ns_};
      ASSERT_TRUE(tracker.add({next_read_ns, account, {next_read_ns - idle_ns_, 0}}));
    }
    now_ns_ = end;
  }

  std::uint64_t now_ns_ = kMs;
  std::uint64_t idle_ns_ = 0;
  std::uint64_t turn_ = 1;
  std::optional<std::uint64_t> asleep_since_;
};

TEST(TurnTracker, KnowsATurnBetweenTwoSleepsExactly) {
  SimulatedLoop loop;
  loop.turn(10.3, 50.4);
  loop.turn(9, 1);
  const auto turns = loop.tracker.take_turns();
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_EQ(turns[0].duration_ns(), 50'400'000u);
  EXPECT_EQ(turns[0].begin_ns, 11'300'000u);
  EXPECT_EQ(turns[0].slack_ns, 0u);
  EXPECT_TRUE(loop.tracker.take_turns().empty());
}

TEST(TurnTracker, KnowsATurnBesideOthersToTheDistanceOfReadings) {
  SimulatedLoop loop;
  for (int i = 0; i < 50; ++i) loop.turn(0, 0.3);
  loop.turn(0, 50);
  for (int i = 0; i < 50; ++i) loop.turn(0, 0.3);
  const auto turns = loop.tracker.take_turns();
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_NEAR(static_cast<double>(turns[0].duration_ns()), 50e6, 2e6);
  EXPECT_LE(turns[0].slack_ns, 2 * kMs);
}

// Requests that follow each other without sleep are no stall, however many there are.
TEST(TurnTracker, SeesNoStallInALoadedLoop) {
  SimulatedLoop loop;
  for (int i = 0; i < 20'000; ++i) loop.turn(i % 7 == 0 ? 0.1 : 0, 0.3 + 0.1 * (i % 13));
  EXPECT_TRUE(loop.tracker.take_turns().empty());
  const LoopTicks ticks = loop.tracker.take_ticks();
  EXPECT_NEAR(static_cast<double>(ticks.turns), 20'000, 10);
  EXPECT_NEAR(static_cast<double>(ticks.p50_ns), 0.9e6, 0.3e6);
  EXPECT_GT(ticks.utilisation(), 0.95);
}

// On a machine without a free CPU readings come late: what lies between two of them is no turn.
TEST(TurnTracker, MakesNoStallOfReadingsThatCameLate) {
  SimulatedLoop loop;
  for (int i = 0; i < 100; ++i) loop.turn(0, 1);
  loop.next_read_ns += 300 * kMs;
  for (int i = 0; i < 400; ++i) loop.turn(0, 1);
  EXPECT_TRUE(loop.tracker.take_turns().empty());
  // A real one is as long as was seen.
  loop.read_every_ms = 40;
  loop.turn(0, 205);
  loop.turn(0, 1);
  for (int i = 0; i < 100; ++i) loop.turn(0, 1);
  const auto turns = loop.tracker.take_turns();
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_LE(turns[0].duration_ns(), 205 * kMs);
  EXPECT_GE(turns[0].duration_ns(), 120 * kMs);
  EXPECT_GE(turns[0].duration_ns() + turns[0].slack_ns, 205 * kMs);
}

// Where turns are not counted, the loop's time in milliseconds tells them apart.
TEST(TurnTracker, TellsTurnsApartByTheLoopsTime) {
  SimulatedLoop loop(false);
  for (int i = 0; i < 300; ++i) loop.turn(0, 0.3);
  loop.turn(5, 80);
  for (int i = 0; i < 300; ++i) loop.turn(0, 0.3);
  const auto turns = loop.tracker.take_turns();
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_NEAR(static_cast<double>(turns[0].duration_ns()), 80e6, 2e6);
  EXPECT_FALSE(loop.tracker.take_ticks().has_turns);
}

TEST(TurnTracker, AddsUpWhatWasBusy) {
  SimulatedLoop loop;
  for (int i = 0; i < 100; ++i) loop.turn(6, 4);
  const LoopTicks ticks = loop.tracker.take_ticks();
  EXPECT_NEAR(ticks.utilisation(), 0.4, 0.01);
  EXPECT_NEAR(static_cast<double>(ticks.turns), 100, 2);
  EXPECT_NEAR(static_cast<double>(ticks.p50_ns), 4e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(ticks.max_ns), 4e6, 0.5e6);
  EXPECT_EQ(loop.tracker.take_ticks().turns, 0u);
}

TEST(TurnTracker, RefusesWhatDoesNotFollow) {
  const LoopReading first{100 * kMs, {7, 0, 50 * kMs}, {}};
  for (const LoopReading& second :
       {LoopReading{101 * kMs, {6, 0, 50 * kMs}, {}}, LoopReading{101 * kMs, {7, 0, 49 * kMs}, {}},
        LoopReading{99 * kMs, {7, 0, 50 * kMs}, {}}, LoopReading{101 * kMs, {7, 200 * kMs, 50 * kMs}, {}}}) {
    TurnTracker tracker(true, kMs);
    ASSERT_TRUE(tracker.add(first));
    EXPECT_FALSE(tracker.add(second));
  }
  // Any numbers are survived.
  TurnTracker tracker(true, 1);
  EXPECT_TRUE(tracker.add({0, {0, 0, 0}, {}}));
  EXPECT_TRUE(tracker.add({1, {UINT64_MAX, 1, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}}));
  tracker.add({UINT64_MAX, {UINT64_MAX, 0, UINT64_MAX}, {}});
  (void)tracker.take_ticks();
}

TEST(Turn, SaysWhatItWaitedFor) {
  Turn turn{0, 300 * kMs, 0, {20 * kMs, 40 * kMs}};
  EXPECT_EQ(waiting_text(turn), "240.0 ms waiting, 40.0 ms ready without a CPU");
  turn.thread = {299 * kMs, kMs};
  EXPECT_EQ(waiting_text(turn), "");
  turn.thread = {};  // not known
  EXPECT_EQ(waiting_text(turn), "");
}

TEST(DurationCounts, HaveQuantiles) {
  DurationCounts counts;
  EXPECT_EQ(counts.quantile_ns(0.5), 0u);
  counts.add(kMs, 98);
  counts.add(300 * kMs, 2);
  EXPECT_NEAR(static_cast<double>(counts.quantile_ns(0.5)), 1e6, 0.1e6);
  EXPECT_NEAR(static_cast<double>(counts.quantile_ns(0.99)), 300e6, 30e6);
  counts.add(0, 1);
  counts.add(UINT64_MAX, 1);
  EXPECT_EQ(counts.total(), 102u);
}

TEST(TurnTracker, TellsOfATurnThatLasts) {
  SimulatedLoop loop;
  loop.turn(10, 1);
  loop.turn(10, 200);
  EXPECT_TRUE(loop.tracker.take_turns().empty());
  loop.tracker.finish(/*lasts=*/true);
  const auto turns = loop.tracker.take_turns();
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_TRUE(turns[0].lasts);
  EXPECT_LE(turns[0].duration_ns(), 200 * kMs);
  EXPECT_GE(turns[0].duration_ns(), 197 * kMs);
  loop.tracker.finish(/*lasts=*/true);
  EXPECT_TRUE(loop.tracker.take_turns().empty());
}

TEST(TurnTracker, HasNoTurnThatLastsWhileTheLoopSleeps) {
  SimulatedLoop loop;
  loop.turn(10, 200);
  loop.turn(50, 1);
  loop.tracker.take_turns();
  loop.tracker.finish(/*lasts=*/true);
  EXPECT_TRUE(loop.tracker.take_turns().empty());
}

}  // namespace
}  // namespace nodescope
