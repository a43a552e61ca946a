#include "analysis/stalls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/turns.h"

namespace nodescope {
namespace {

// A recording of one main thread at 1,000 samples a second.
class Recording {
 public:
  Recording() {
    event_ = profile.intern_event("cpu-clock", Unit::kNanoseconds);
    thread = profile.intern_thread(profile.intern_process(4120, "node"), 4120, "node");
    profile.facts["rate"] = "1000 Hz";
  }

  // Frames are "main", "js:aggregate" of the application, "node:listOnTimeout", "pkg:handle" or
  // "gc:Scavenge".
  StackId stack(const std::vector<std::string>& frames) {
    StackId stack = kEmptyStack;
    for (const std::string& text : frames) {
      Frame frame;
      frame.kind = FrameKind::kNative;
      std::string_view name = text;
      const auto take = [&](std::string_view prefix) {
        if (!name.starts_with(prefix)) return false;
        name.remove_prefix(prefix.size());
        return true;
      };
      if (take("js:")) {
        frame.kind = FrameKind::kJs;
        frame.file = profile.strings.intern("/app/index.js");
      } else if (take("pkg:")) {
        frame.kind = FrameKind::kJs;
        frame.file = profile.strings.intern("/app/node_modules/express/index.js");
      } else if (take("node:")) {
        frame.kind = FrameKind::kJs;
        frame.file = profile.strings.intern("node:internal/timers");
      } else if (take("gc:")) {
        frame.kind = FrameKind::kGc;
      } else if (take("regexp:")) {
        frame.kind = FrameKind::kRegExp;
      } else if (take("builtin:")) {
        frame.kind = FrameKind::kBuiltin;
      } else if (take("unknown:")) {
        frame.kind = FrameKind::kUnknown;
      }
      frame.function = profile.strings.intern(name);
      stack = profile.stacks.push(stack, profile.frames.intern(frame));
    }
    return stack;
  }

  // A sample each millisecond in [begin, end).
  void run(int begin_ms, int end_ms, const std::vector<std::string>& frames) {
    for (int ms = begin_ms; ms < end_ms; ++ms) at(ms, frames);
  }
  void at(int ms, const std::vector<std::string>& frames) {
    profile.samples.add({std::int64_t{ms} * 1'000'000, stack(frames), {thread, 0, event_}, 1'000'000});
  }
  // What makes the thread one of JavaScript, and time begin at 0.
  void begin() { at(0, {"main", "uv_run", "uv__io_poll", "js:start"}); }

  StallReport stalls(std::int64_t min_ms = 50, const Selection& selection = {}) {
    const auto report = derive_stalls(profile, derive_overview(profile), derive_causes(profile), selection,
                                      {min_ms * 1'000'000});
    EXPECT_TRUE(report);
    return *report;
  }

  Profile profile;
  ThreadId thread;

 private:
  EventId event_;
};

const std::vector<std::string> kTimer = {"main", "uv_run", "uv__run_timers", "node:listOnTimeout"};
const std::vector<std::string> kPoll = {"main", "uv_run", "uv__io_poll", "epoll_pwait"};

std::vector<std::string> below(std::vector<std::string> frames, const std::vector<std::string>& more) {
  frames.insert(frames.end(), more.begin(), more.end());
  return frames;
}

TEST(Stalls, AreCallsThatDoNotReturnToTheLoop) {
  Recording recording;
  recording.begin();
  recording.run(100, 110, kPoll);
  recording.run(110, 150, below(kTimer, {"js:aggregate", "js:sum"}));
  recording.run(150, 260, below(kTimer, {"js:aggregate", "js:sort", "js:compare"}));
  recording.run(260, 270, kPoll);
  const StallReport report = recording.stalls();
  ASSERT_EQ(report.stalls.size(), 1u);
  const Stall& stall = report.stalls[0];
  EXPECT_EQ(stall.function, (LabelParts{"aggregate", "/app/index.js"}));
  EXPECT_EQ(stall.begin_ns, 110'000'000);
  EXPECT_EQ(stall.end_ns, 260'000'000);
  EXPECT_EQ(stall.samples, 150u);
  EXPECT_EQ(stall.cause, Cause::kJs);
  EXPECT_EQ(stall.why, "timer callback");
  EXPECT_TRUE(stall.estimated);
  EXPECT_EQ(report.sentence,
            "No stall is proven (loop busy 64 %): aggregate may have blocked node 4120 for up to 150 ms.");
  EXPECT_FALSE(report.measured);
}

TEST(Stalls, EndAtASampleOfTheLoop) {
  Recording recording;
  recording.begin();
  recording.run(100, 140, below(kTimer, {"js:tick"}));
  recording.at(140, kPoll);
  recording.run(141, 180, below(kTimer, {"js:tick"}));
  const StallReport report = recording.stalls();
  EXPECT_TRUE(report.stalls.empty());
  ASSERT_TRUE(report.longest);
  EXPECT_EQ(report.longest->duration_ns(), 40'000'000);
  EXPECT_EQ(report.sentence, "");
}

TEST(Stalls, EndWhereNothingOfTheApplicationIsCommon) {
  Recording recording;
  recording.begin();
  recording.run(100, 140, below(kTimer, {"js:first"}));
  recording.run(140, 180, below(kTimer, {"js:second"}));
  EXPECT_TRUE(recording.stalls().stalls.empty());
}

TEST(Stalls, GoOnThroughCollectionsUnknownStacksAndShortHoles) {
  Recording recording;
  recording.begin();
  recording.run(100, 150, below(kTimer, {"js:build"}));
  recording.run(150, 160, {"main", "gc:MarkCompact"});
  recording.run(160, 165, {"unknown:[unknown]"});
  recording.run(180, 230, below(kTimer, {"js:build"}));
  const StallReport report = recording.stalls();
  ASSERT_EQ(report.stalls.size(), 1u);
  EXPECT_EQ(report.stalls[0].duration_ns(), 130'000'000);
}

// perf knows interpreted functions only by the builtin that runs them all.
TEST(Stalls, GoOnThroughFunctionsWithoutNames) {
  Recording recording;
  recording.begin();
  recording.run(100, 150, below(kTimer, {"js:build"}));
  recording.at(150, below({"main", "uv_run", "uv__run_timers"},
                          {"builtin:Builtins_InterpreterEntryTrampoline", "builtin:ArrayMap"}));
  recording.at(151, below(kTimer, {"js:[unknown js]"}));
  recording.run(152, 200, below(kTimer, {"js:build"}));
  recording.at(200, kPoll);
  const StallReport report = recording.stalls();
  ASSERT_EQ(report.stalls.size(), 1u);
  EXPECT_EQ(report.stalls[0].duration_ns(), 100'000'000);
}

TEST(Stalls, AreNoShortCallbacksAtADistance) {
  Recording recording;
  recording.begin();
  for (int i = 0; i < 50; ++i) recording.run(100 + 20 * i, 105 + 20 * i, below(kTimer, {"js:tick"}));
  EXPECT_TRUE(recording.stalls().stalls.empty());
}

// 20 requests a millisecond apart, and the loop between some of them.
TEST(Stalls, AreNotWhatABusyServerHasByChance) {
  Recording recording;
  recording.begin();
  unsigned random = 1;
  for (int ms = 100; ms < 10'100; ++ms) {
    random = random * 1'103'515'245 + 12'345;
    recording.at(ms, (random >> 16) % 100 < 4 ? kPoll : below(kTimer, {"js:onRequest", "js:render"}));
  }
  EXPECT_TRUE(recording.stalls().stalls.empty());
  // A thread that is never seen in its loop is blocked as far as anybody can tell.
  Recording endless;
  endless.begin();
  endless.run(100, 1100, below(kTimer, {"js:onRequest", "js:render"}));
  EXPECT_EQ(endless.stalls().stalls.size(), 1u);
}

// Idle at first, then so many requests that the loop is seen in one of nine samples only, for a hundred
// times.
TEST(Stalls, AreNotWhatABurstOfRequestsHasByChance) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Recording recording;
    recording.begin();
    recording.run(100, 1100, kPoll);
    unsigned random = seed;
    for (int ms = 1100; ms < 2100; ++ms) {
      random = random * 1'103'515'245 + 12'345;
      recording.at(ms, (random >> 16) % 100 < 11 ? kPoll : below(kTimer, {"js:onRequest", "js:render"}));
    }
    EXPECT_TRUE(recording.stalls(20).stalls.empty()) << seed;
    // Blocked for as long as 40 usual requests.
    recording.run(2100, 2460, below(kTimer, {"js:onRequest", "js:aggregate"}));
    recording.run(2460, 2500, kPoll);
    EXPECT_EQ(recording.stalls(300).stalls.size(), 1u) << seed;
  }
}

TEST(Stalls, SayWhatRepeatsOnlyIfItHoldsForAll) {
  Recording recording;
  recording.begin();
  for (int i = 0; i < 4; ++i) {
    recording.run(1000 + 1000 * i, 1300 + 1000 * i, below(kTimer, {"js:aggregate"}));
    recording.run(1300 + 1000 * i, 1310 + 1000 * i, kPoll);
  }
  EXPECT_THAT(recording.stalls().sentence,
              testing::EndsWith("aggregate may have blocked node 4120 for up to 300 ms, every 1.0 s."));
  recording.run(9'000, 9'080, below(kTimer, {"js:aggregate"}));
  EXPECT_THAT(recording.stalls().sentence,
              testing::EndsWith("aggregate may have blocked node 4120 for up to 80 ms to 300 ms, 5 times."));
}

TEST(Stalls, SayWhyWhereTheStacksTell) {
  const auto why = [](const std::vector<std::string>& frames) {
    Recording recording;
    recording.begin();
    recording.run(100, 200, frames);
    const StallReport report = recording.stalls();
    EXPECT_EQ(report.stalls.size(), 1u);
    return report.stalls.empty() ? "" : report.stalls[0].why;
  };
  EXPECT_EQ(why(below(kTimer, {"js:f", "regexp:/(a+)+/"})), "backtracking regular expression");
  EXPECT_EQ(why(below(kTimer, {"js:f", "gc:MarkCompact"})), "garbage collection");
  EXPECT_EQ(why({"main", "gc:MarkCompact"}), "garbage collection");
  EXPECT_EQ(why(below(kTimer, {"js:f", "node:readFileSync", "read"})), "synchronous call of readFileSync");
  EXPECT_EQ(why({"main", "uv__io_poll", "node:parserOnIncoming", "js:f"}), "http request");
  EXPECT_EQ(why({"main", "js:f"}), "");
}

TEST(Stalls, NameThePackageWhereNoOwnFunctionIsCommon) {
  Recording recording;
  recording.begin();
  recording.run(100, 160, {"main", "pkg:handle", "js:first"});
  recording.run(160, 220, {"main", "pkg:handle", "js:second"});
  const StallReport report = recording.stalls();
  ASSERT_EQ(report.stalls.size(), 1u);
  EXPECT_EQ(report.stalls[0].function.name, "handle");
}

// A request that came in between has only the router in common with the function that blocks.
TEST(Stalls, NameTheInnermostFunctionWithMostSamples) {
  Recording recording;
  recording.begin();
  const std::vector<std::string> router = below(kTimer, {"pkg:handle", "js:route"});
  recording.run(100, 190, below(router, {"js:aggregate", "js:sum"}));
  recording.run(190, 199, below(router, {"js:aggregate", "js:sort"}));
  recording.at(199, below(router, {"js:health"}));
  recording.run(200, 210, below(router, {"js:aggregate", "js:sort"}));
  const StallReport report = recording.stalls();
  ASSERT_EQ(report.stalls.size(), 1u);
  EXPECT_EQ(report.stalls[0].function.name, "sum");  // 90 of 110
  // Of the same samples as a measured turn; with fewer of them only the caller has enough.
  recording.profile.markers.push_back({100'000'000, 110'000'000, recording.thread, MarkerKind::kStall, {}});
  EXPECT_EQ(recording.stalls().stalls[0].function.name, "sum");
  recording.profile.markers[0].time_ns = 120'000'000;
  recording.profile.markers[0].duration_ns = 90'000'000;
  EXPECT_EQ(recording.stalls().stalls[0].function.name, "aggregate");
}

TEST(Stalls, OfMeasuredTurnsAreFacts) {
  Recording recording;
  recording.begin();
  recording.run(100, 300, below(kTimer, {"js:aggregate"}));
  recording.profile.clock_offset_ns = 1'700'000'000'000'000'000;
  recording.profile.facts[std::string(kTurnsFact)] = kTurnsMeasured;
  EXPECT_TRUE(recording.stalls().measured);
  EXPECT_TRUE(recording.stalls().stalls.empty());
  recording.profile.markers.push_back({100'000'000, 200'000'000, recording.thread, MarkerKind::kStall,
                                       recording.profile.strings.intern("12 ms without a CPU")});
  const StallReport report = recording.stalls();
  EXPECT_EQ(report.sentence, "aggregate blocked node 4120 for 200 ms.");
  ASSERT_EQ(report.stalls.size(), 1u);
  EXPECT_EQ(report.stalls[0].why, "timer callback, 12 ms without a CPU");
  EXPECT_EQ(report.stalls[0].wall_ns, 1'700'000'000'100'000'000);
}

// Callbacks of one turn have no function of the application in common.
TEST(Stalls, OfMeasuredTurnsAreNamedAsFarAsTheyCanBe) {
  Recording recording;
  recording.begin();
  recording.run(100, 150, below(kTimer, {"js:first"}));
  recording.run(150, 200, below(kTimer, {"js:second"}));
  recording.run(300, 350, {"gc:MarkCompact"});
  recording.run(400, 430, below(kTimer, {"js:first"}));
  recording.run(430, 460, {"main", "uv__io_poll", "js:second"});
  for (const int begin_ms : {100, 300, 500})
    recording.profile.markers.push_back(
        {std::int64_t{begin_ms} * 1'000'000, 100'000'000, recording.thread, MarkerKind::kStall, {}});
  const StallReport report = recording.stalls();
  ASSERT_EQ(report.stalls.size(), 3u);
  EXPECT_EQ(report.stalls[0].function.name, "listOnTimeout");
  EXPECT_EQ(report.stalls[1].function.name, "(garbage collector)");
  EXPECT_EQ(report.stalls[2].function.name, "(no sample)");
}

TEST(Stalls, OfTheRecordingComeFirst) {
  Recording recording;
  recording.begin();
  recording.run(100, 300, below(kTimer, {"js:aggregate"}));
  recording.profile.markers.push_back({120'000'000, 60'000'000, recording.thread, MarkerKind::kStall, {}});
  recording.profile.markers.push_back({INT64_MAX, INT64_MAX, recording.thread, MarkerKind::kStall, {}});
  recording.profile.markers.push_back({INT64_MIN, INT64_MIN, recording.thread, MarkerKind::kStall, {}});
  const StallReport report = recording.stalls();
  ASSERT_EQ(report.stalls.size(), 1u);
  EXPECT_FALSE(report.stalls[0].estimated);
  EXPECT_EQ(report.stalls[0].function.name, "aggregate");
  EXPECT_EQ(report.stalls[0].begin_ns, 120'000'000);
  EXPECT_EQ(report.stalls[0].samples, 60u);
}

TEST(Stalls, AreThoseOfTheSelection) {
  Recording recording;
  recording.begin();
  recording.run(100, 300, below(kTimer, {"js:aggregate"}));
  Selection selection;
  selection.time = TimeRange{0, 150'000'000};
  EXPECT_EQ(recording.stalls(50, selection).stalls[0].duration_ns(), 50'000'000);
  selection = {};
  selection.threads = {ThreadId{}};
  EXPECT_TRUE(recording.stalls(50, selection).stalls.empty());
}

TEST(Stalls, AreNoneWithoutTimes) {
  Recording recording;
  for (int i = 0; i < 100; ++i) recording.at(0, below(kTimer, {"js:f"}));
  EXPECT_TRUE(recording.stalls().stalls.empty());
  EXPECT_TRUE(
      derive_stalls(Profile{}, derive_overview(Profile{}), derive_causes(Profile{}), {}, {})->stalls.empty());
}

}  // namespace
}  // namespace nodescope
