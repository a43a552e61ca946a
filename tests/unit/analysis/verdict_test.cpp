#include "analysis/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nodescope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A thread that is sampled every 10 ms of CPU time, in `busy` of 1000 such periods.
struct Service {
  Profile profile;
  ThreadId thread;
  EventId event;

  Service() {
    event = profile.intern_event("cpu-clock", Unit::kNanoseconds);
    thread = profile.intern_thread(profile.intern_process(7, "node"), 7, "node");
  }
  FrameId frame(std::string_view name, FrameKind kind, std::string_view file = {}, std::uint32_t line = 0) {
    Frame frame;
    frame.function = profile.strings.intern(name);
    frame.file = profile.strings.intern(file);
    frame.line = line;
    frame.kind = kind;
    return profile.frames.intern(frame);
  }
  void add(std::int64_t period, std::initializer_list<FrameId> frames) {
    StackId stack = kEmptyStack;
    for (const FrameId frame : frames) stack = profile.stacks.push(stack, frame);
    profile.samples.add({period * 10'000'000, stack, {thread, kUnknownCpu, event}, 10'000'000});
  }
  Verdict verdict() const {
    return derive_verdict(profile, derive_overview(profile), derive_causes(profile), nullptr);
  }
};

TEST(Verdict, TellsHowBusyWithWhatAndWhere) {
  Service service;
  const FrameId handle = service.frame("handle", FrameKind::kJs, "/app/x.js", 3);
  const FrameId parse = service.frame("parse", FrameKind::kJs, "/app/rows.js", 9);
  const FrameId native = service.frame("JsonParse", FrameKind::kBuiltin);
  const FrameId gc = service.frame("Scavenge", FrameKind::kGc);
  for (int i = 0; i < 60; ++i) service.add(i, {handle, parse, native});
  for (int i = 60; i < 80; ++i) service.add(i, {handle});
  for (int i = 80; i <= 100; ++i) service.add(i * 2 - 80, {handle, gc});
  const Verdict verdict = service.verdict();
  EXPECT_EQ(verdict.sentence,
            "The main thread was busy 84 % of 1.2 s: 79 % JavaScript, 59 % in parse rows.js:9.");
  EXPECT_EQ(verdict.cause, Cause::kJs);
}

TEST(Verdict, SaysThatNothingHappened) {
  Service service;
  const FrameId handle = service.frame("handle", FrameKind::kJs, "/app/x.js", 3);
  service.add(0, {handle});
  service.add(1000, {handle});
  EXPECT_THAT(service.verdict().sentence,
              StartsWith("The main thread was idle >99 % of 10.0 s (20 ms on a CPU): "));
  EXPECT_EQ(derive_verdict(Profile(), derive_overview(Profile()), {}, nullptr).sentence, "");
}

TEST(Verdict, NamesTheBusiestOfSeveralProcessesAndWhatIsLost) {
  Service service;
  const FrameId handle = service.frame("handle", FrameKind::kJs, "/app/x.js", 3);
  for (int i = 0; i < 10; ++i) service.add(i * 10, {handle});
  service.thread = service.profile.intern_thread(service.profile.intern_process(8, "node"), 8, "node");
  for (int i = 0; i <= 90; ++i) service.add(i, {handle});
  service.profile.lost_samples = 11;
  const std::string sentence = service.verdict().sentence;
  EXPECT_THAT(sentence, StartsWith("The busiest of 2 main threads, node 8, was busy "));
  EXPECT_THAT(sentence, HasSubstr("10 % of the samples were lost."));
}

}  // namespace
}  // namespace nodescope
