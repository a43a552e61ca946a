#include "analysis/cause.h"

#include <gtest/gtest.h>

#include "analysis/event_loop.h"
#include "analysis/selection.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::plain_profile_of;
using testing::profile_of;

std::string causes_of(const Profile& profile) {
  const std::vector<Cause> causes = derive_causes(profile);
  std::string text;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    if (!text.empty()) text += ' ';
    text += to_string(causes[profile.samples.stack(i).index()]);
  }
  return text;
}

TEST(Cause, IsThatOfTheInnermostFrame) {
  EXPECT_EQ(causes_of(profile_of("main;js:run 1\n"
                                 "main;js:run;builtin:ArrayMap 1\n"
                                 "main 1\n"
                                 "main;js:run;kernel:read 1\n"
                                 "js:run;regexp:/a+/ 1\n")),
            "js js native kernel regexp");
}

TEST(Cause, OfACollectionIsAllThatItCalls) {
  EXPECT_EQ(causes_of(profile_of("js:run;gc:Scavenge;memcpy 1\n"
                                 "js:run;gc:Scavenge;kernel:page_fault 1\n"
                                 "js:run;gc:Scavenge;js:finalizer 1\n"
                                 "js:run;v8::internal::Heap::CollectGarbage(int);malloc 1\n")),
            "gc gc js gc");
}

TEST(Cause, OfACompilerIsAllThatItCalls) {
  EXPECT_EQ(causes_of(profile_of("js:run;v8::internal::Compiler::Compile;malloc 1\n"
                                 "js:run;v8::internal::compiler::PipelineImpl::Run;kernel:page_fault 1\n"
                                 "v8::internal::maglev::MaglevCompiler::Compile 1\n"
                                 "v8::internal::interpreter::BytecodeGenerator::Visit;gc:Scavenge;memcpy 1\n"
                                 "v8::internal::interpreter::BytecodeGenerator::Visit;js:run;memcpy 1\n"
                                 "js:run;v8::internal::RegExpImpl::IrregexpExec;memcpy 1\n"
                                 "js:run;v8::internal::JsonParser::Parse 1\n")),
            "compile compile compile gc native regexp native");
}

TEST(Cause, OfWhatIsNotKnownIsOther) {
  EXPECT_EQ(causes_of(plain_profile_of("main;run 1\n(idle) 2\n")), "other idle");
  Profile without_stack;
  EXPECT_EQ(derive_causes(without_stack), std::vector{Cause::kOther});
}

// As its colour and its row in the table of packages say.
TEST(Cause, OfCodeWithoutSymbolInALibraryIsNative) {
  Profile profile;
  const EventId event = profile.intern_event("cpu", Unit::kSamples);
  for (const char* module : {"/usr/lib/libc.so.6", "//anon", ""}) {
    Frame frame;
    frame.module = profile.strings.intern(module);
    const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
    profile.samples.add({0, stack, {ThreadId{}, 0, event}, 1});
  }
  EXPECT_EQ(causes_of(profile), "native other other");
}

TEST(Cause, OfTimeOnNoProcessorIsWaitingButForTheLoopsNextEvent) {
  EXPECT_EQ(causes_of(profile_of("main;js:read;kernel:pipe_read;kernel:[waits for a pipe] 1\n"
                                 "main;kernel:do_epoll_wait;kernel:[waits for events] 1\n"
                                 "main;js:run;kernel:[ready, without a CPU] 1\n"
                                 "main;v8::internal::Heap::CollectGarbage;kernel:[waits for a lock] 1\n")),
            "waiting idle waiting waiting");
}

std::string folded_text(std::string_view stacks) {
  Selection selection;
  selection.fold_event_loop = true;
  const auto selected = copy_selection(profile_of(stacks), selection);
  EXPECT_TRUE(selected);
  std::string text;
  const Profile& profile = selected->profile;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    for (const FrameId frame : profile.stacks.unwind(profile.samples.stack(i))) {
      text += std::string(profile.text(profile.frames[frame].function)) + ";";
    }
    text.back() = '\n';
  }
  return text;
}

TEST(FoldedEventLoop, NamesThePhase) {
  EXPECT_EQ(
      folded_text("main;uv_run;uv__run_timers;node::Environment::RunTimers(uv_timer_s*);js:tick 1\n"
                  "main;uv_run;uv__io_poll;uv__stream_io;js:onread;builtin:Call_ReceiverIsAny;js:handle 1\n"
                  "main;uv_run;uv__io_poll;node::InternalCallbackScope::Close;js:resume 1\n"
                  "main;node::LoadEnvironment;js:start 1\n"
                  "main;something;js:call 1\n"),
      "timers;tick\npoll;onread;handle\nmicrotasks/next tick;resume\nstartup;start\nnative;call\n");
}

TEST(AsyncCallers, CanBeLeftOut) {
  const Profile profile = profile_of(
      "main;builtin:RunMicrotasks;js:async route;js:async users;js:query 2\n"
      "main;builtin:RunMicrotasks;[asynchronous callers lost];js:query 1\n");
  for (const auto& [my, fold] : {std::pair(false, false), {true, false}, {false, true}}) {
    Selection selection;
    selection.only_my_code = my;
    selection.fold_event_loop = fold;
    selection.leave_out_async_callers = true;
    const auto selected = copy_selection(profile, selection);
    ASSERT_TRUE(selected);
    const Profile& part = selected->profile;
    ASSERT_EQ(part.samples.size(), 2u);
    EXPECT_EQ(part.samples.stack(0), part.samples.stack(1));
    for (std::size_t i = 0; i < part.frames.size(); ++i)
      EXPECT_FALSE(part.text(part.frames[FrameId{i}].function).contains("async"));
  }
}

TEST(FoldedEventLoop, KeepsWhatHasNoJavaScript) {
  EXPECT_EQ(folded_text("main;uv_run;uv__io_poll;epoll_pwait;kernel:do_epoll_wait 1\n"
                        "start_thread;worker;scrypt 1\n"
                        "js:first;native_call 1\n"),
            "poll;epoll_pwait;do_epoll_wait\nstart_thread;worker;scrypt\nfirst;native_call\n");
}

}  // namespace
}  // namespace nodescope
