#include "analysis/sampled_collections.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

// Stacks of two frames at given times.
class Recording {
 public:
  Recording() {
    event_ = profile.intern_event("cpu-clock", Unit::kNanoseconds);
    const ProcessId process = profile.intern_process(1, "node");
    main = profile.intern_thread(process, 1, "main");
    worker = profile.intern_thread(process, 2, "worker");
  }

  StackId stack(std::string_view function, FrameKind kind) {
    Frame caller;
    caller.function = profile.strings.intern("build");
    caller.kind = FrameKind::kJs;
    Frame frame;
    frame.function = profile.strings.intern(function);
    frame.kind = kind;
    const StackId outer = profile.stacks.push(kEmptyStack, profile.frames.intern(caller));
    return profile.stacks.push(outer, profile.frames.intern(frame));
  }

  void sample(ThreadId thread, std::int64_t time, std::string_view function,
              FrameKind kind = FrameKind::kNative) {
    profile.samples.add({time, stack(function, kind), {thread, 0, event_}, 10});
  }

  Profile profile;
  ThreadId main;
  ThreadId worker;

 private:
  EventId event_;
};

TEST(SampledCollections, AreSamplesThatFollowEachOther) {
  Recording recording;
  recording.sample(recording.main, 0, "run", FrameKind::kJs);
  recording.sample(recording.main, 10, "v8::internal::Scavenger::Process");
  recording.sample(recording.worker, 15, "v8::internal::MarkCompactCollector::MarkLiveObjects");
  recording.sample(recording.main, 20, "v8::internal::ScavengerCollector::CollectGarbage");
  recording.sample(recording.main, 30, "run", FrameKind::kJs);
  recording.sample(recording.main, 40, "v8::internal::MarkCompactCollector::Evacuate");
  recording.sample(recording.main, 200, "v8::internal::MarkCompactCollector::Evacuate");
  const auto found = find_sampled_collections(recording.profile, 0);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].kind, "scavenge");
  EXPECT_EQ(found[0].begin_ns, 10);
  EXPECT_EQ(found[0].duration_ns, 20);
  EXPECT_EQ(found[1].kind, "mark-compact");
  EXPECT_EQ(found[1].duration_ns, 10);
  EXPECT_EQ(found[2].begin_ns, 200);
  EXPECT_EQ(found[3].thread, recording.worker);
}

TEST(SampledCollections, AreLookedForInNewSamplesOnly) {
  Recording recording;
  recording.sample(recording.main, 10, "v8::internal::Scavenger::Process");
  EXPECT_TRUE(find_sampled_collections(recording.profile, 1).empty());
}

}  // namespace
}  // namespace nodescope
