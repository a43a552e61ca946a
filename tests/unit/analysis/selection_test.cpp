#include "analysis/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::profile_of;
using testing::to_text;

// Two processes with two threads each, one sample a millisecond, first at 5 ms; two events.
Profile recording() {
  Profile profile;
  const EventId cpu = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const EventId faults = profile.intern_event("page-faults", Unit::kCount);
  for (int i = 0; i < 8; ++i) {
    const ProcessId process = profile.intern_process(10 + i / 4, i < 4 ? "node" : "npm");
    const ThreadId thread = profile.intern_thread(process, 100 + i / 2, i % 4 < 2 ? "main" : "worker");
    Frame frame;
    frame.kind = i % 2 == 0 ? FrameKind::kJs : FrameKind::kNative;
    frame.function = profile.strings.intern("f" + std::to_string(i));
    const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
    profile.samples.add({5'000'000 + i * 1'000'000, stack, {thread, i, i == 7 ? faults : cpu}, 100});
    profile.mappings.push_back({process, 1, 2, 0, profile.strings.intern("m"), {}});
    profile.markers.push_back(
        {5'000'000 + i * 1'000'000, 1, thread, MarkerKind::kGc, profile.strings.intern("gc")});
  }
  profile.lost_samples = 3;
  profile.facts["host"] = "here";
  return profile;
}

Selected select(const Selection& selection, Profile profile = recording()) {
  auto selected = derive_selection(std::move(profile), selection);
  EXPECT_TRUE(selected) << selected.error().message;
  EXPECT_EQ(selected->accounting.taken, selected->accounting.shown + selected->accounting.filtered +
                                            selected->accounting.other_events + selected->accounting.lost);
  return std::move(*selected);
}

std::string functions(const Profile& profile) {
  std::string names;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    for (const FrameId frame : profile.stacks.unwind(profile.samples.stack(i))) {
      names += std::string(profile.text(profile.frames[frame].function)) + ";";
    }
    names.back() = ' ';
  }
  return names;
}

TEST(Selection, OfEverythingIsTheProfileItself) {
  const std::string before = to_text(recording());
  const Selected all = select({});
  EXPECT_EQ(to_text(all.profile), before);
  EXPECT_EQ(all.accounting, (Accounting{11, 7, 0, 1, 3}));
}

TEST(Selection, ByEventKeepsOnlyThatEvent) {
  Selection selection;
  selection.event = EventId{1};
  const Selected selected = select(selection);
  EXPECT_EQ(functions(selected.profile), "f7 ");
  ASSERT_EQ(selected.profile.events().size(), 1u);
  EXPECT_EQ(selected.profile.text(selected.profile.events()[0].name), "page-faults");
  EXPECT_EQ(selected.accounting, (Accounting{11, 1, 0, 7, 3}));
  selection.event = EventId{2};
  EXPECT_EQ(derive_selection(recording(), selection).error().code, ErrorCode::kUsage);
}

TEST(Selection, ByTimeCountsFromTheFirstSample) {
  Selection selection;
  selection.time = TimeRange{1'000'000, 3'000'000};
  const Selected selected = select(selection);
  EXPECT_EQ(functions(selected.profile), "f1 f2 ");
  EXPECT_EQ(selected.profile.markers.size(), 2u);
  EXPECT_EQ(selected.accounting, (Accounting{11, 2, 5, 1, 3}));
  selection.time = TimeRange{INT64_MIN, INT64_MAX};
  EXPECT_EQ(select(selection).profile.samples.size(), 8u);
}

TEST(Selection, ByProcessAndThread) {
  Selection selection;
  selection.pids = {10};
  EXPECT_EQ(functions(select(selection).profile), "f0 f1 f2 f3 ");
  EXPECT_EQ(select(selection).profile.mappings.size(), 4u);
  selection.tids = {101, 102};
  EXPECT_EQ(functions(select(selection).profile), "f2 f3 ");
  selection = {};
  selection.process_names = {"npm"};
  EXPECT_EQ(functions(select(selection).profile), "f4 f5 f6 f7 ");
  selection.thread_names = {"worker"};
  EXPECT_EQ(functions(select(selection).profile), "f6 f7 ");
  selection.thread_names = {"work"};
  EXPECT_EQ(select(selection).profile.samples.size(), 0u);
}

TEST(Selection, ByKindLooksAtTheInnermostFrame) {
  Selection selection;
  selection.kinds = {FrameKind::kKernel, FrameKind::kGc};
  const Selected selected =
      select(selection, profile_of("main;js:a;kernel:read 3\nmain;js:a 5\nmain;gc:Scavenge 7"));
  EXPECT_EQ(functions(selected.profile), "main;a;read main;Scavenge ");
}

TEST(Selection, ByPatternLooksAtEveryFrame) {
  const std::string_view stacks = "main;parse;read 3\nmain;render 5\nmain;parse;idle 7";
  Selection selection;
  selection.include = {"^parse$", "nothing"};
  EXPECT_EQ(functions(select(selection, profile_of(stacks)).profile), "main;parse;read main;parse;idle ");
  selection.exclude = {"IDLE"};
  EXPECT_EQ(select(selection, profile_of(stacks)).accounting.shown, 2u);
  selection.ignore_case = true;
  EXPECT_EQ(functions(select(selection, profile_of(stacks)).profile), "main;parse;read ");
  selection.include = {"("};
  EXPECT_EQ(derive_selection(profile_of(stacks), selection).error().code, ErrorCode::kUsage);
}

TEST(Selection, KeepsNoStackThatNoSampleHas) {
  Selection selection;
  selection.include = {"read"};
  const Selected selected = select(selection, profile_of("main;parse;read 3\nmain;render;draw 5"));
  EXPECT_EQ(selected.profile.stacks.size(), 4u);
  EXPECT_EQ(selected.profile.frames.size(), 3u);
  EXPECT_EQ(selected.profile.facts, Profile().facts);
}

// Frames with files, which the text form of profile_of has not.
class MyCode : public ::testing::Test {
 protected:
  MyCode() : event_(profile_.intern_event("samples", Unit::kSamples)) {}

  FrameId js(std::string_view function, std::string_view file) {
    return frame(FrameKind::kJs, function, file);
  }
  FrameId frame(FrameKind kind, std::string_view function, std::string_view file = {}) {
    Frame made;
    made.kind = kind;
    made.function = profile_.strings.intern(function);
    made.file = profile_.strings.intern(file);
    return profile_.frames.intern(made);
  }
  void sample(std::initializer_list<FrameId> frames) {
    StackId stack = kEmptyStack;
    for (const FrameId frame : frames) stack = profile_.stacks.push(stack, frame);
    profile_.samples.add({0, stack, {ThreadId{}, kUnknownCpu, event_}, 1});
  }
  std::string folded() {
    Selection selection;
    selection.only_my_code = true;
    const Selected selected = select(selection, std::move(profile_));
    EXPECT_EQ(selected.accounting.shown, selected.profile.samples.size());
    return functions(selected.profile);
  }

  Profile profile_;
  EventId event_;
  FrameId start_ = frame(FrameKind::kNative, "node::Start");
  FrameId tick_ = js("tick", "node:internal/process/task_queues");
  FrameId handler_ = js("handler", "/app/a.js");
  FrameId helper_ = js("helper", "/app/b.js");
  FrameId route_ = js("route", "/app/node_modules/express/lib/router.js");
  FrameId stringify_ = frame(FrameKind::kBuiltin, "JsonStringify");
  FrameId write_ = frame(FrameKind::kNative, "write");
  FrameId sys_write_ = frame(FrameKind::kKernel, "ksys_write");
  FrameId scavenge_ = frame(FrameKind::kGc, "Scavenge");
  FrameId memset_ = frame(FrameKind::kNative, "memset");
  FrameId regexp_ = frame(FrameKind::kRegExp, "a+");
};

TEST_F(MyCode, KeepsOwnFramesOnly) {
  sample({start_, tick_, handler_, route_, helper_});
  EXPECT_EQ(folded(), "handler;helper ");
}

TEST_F(MyCode, ChargesWhatLiesBelowToItsCause) {
  sample({start_, tick_, handler_, stringify_});
  sample({start_, tick_, handler_, regexp_});
  sample({start_, tick_, handler_, write_});
  sample({start_, tick_, handler_, route_, stringify_});
  sample({start_, tick_, handler_, route_, tick_, write_});
  sample({start_, tick_, handler_, route_, write_, sys_write_});
  sample({start_, tick_, handler_, route_, scavenge_, memset_});
  EXPECT_EQ(folded(),
            "handler;(builtin) handler;(regexp) handler;(native) handler;(node_modules)/express "
            "handler;(node internals) handler;(kernel) handler;(gc) ");
}

TEST_F(MyCode, KeepsSamplesWithoutOwnCode) {
  sample({start_, tick_});
  sample({start_, scavenge_});
  sample({start_});
  EXPECT_EQ(folded(), "(node internals) (gc) (native) ");
}

TEST(Event, IsFoundByNameOrNumber) {
  const Profile profile = recording();
  EXPECT_EQ(find_event(profile, "page-faults"), EventId{1});
  EXPECT_EQ(find_event(profile, "0"), EventId{0});
  EXPECT_FALSE(find_event(profile, "2"));
  EXPECT_FALSE(find_event(profile, "page"));
}

}  // namespace
}  // namespace nodescope
