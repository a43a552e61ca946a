#include "formats/bpf_stacks/bpf_stacks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/folded/folded.h"
#include "formats/perf_script/perf_script.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_as;
using testing::read_test_file;

// "EVENT COMM/PID main;kernel:read 3", outermost first.
std::string lines_of(const Profile& profile) {
  std::string text;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Sample sample = profile.samples[i];
    const Thread& thread = profile.thread(sample.context.thread);
    std::string stack;
    for (const FrameId id : profile.stacks.unwind(sample.stack)) {
      const Frame& frame = profile.frames[id];
      const bool plain = frame.kind == FrameKind::kUnknown;
      const std::string_view name = profile.text(frame.function);
      stack += fmt::format("{}{}{}", stack.empty() ? "" : ";",
                           plain ? "" : fmt::format("{}:", to_string(frame.kind)), name.empty() ? "?" : name);
    }
    text += fmt::format("{} {}/{} {} {}\n", profile.text(profile.event(sample.context.event).name),
                        profile.text(thread.name), thread.tid, stack, sample.weight);
  }
  return text;
}

TEST(Bpftrace, ReadsMapsWithStacks) {
  const std::string text = read_test_file("fuzz/corpus/bpftrace/stacks");
  EXPECT_TRUE(kBpftraceFormat.recognise(text));
  EXPECT_FALSE(kPerfScriptFormat.recognise(text));
  EXPECT_EQ(lines_of(read_as(kBpftraceFormat, text)),
            "samples node/4711 ?;uv__io_poll;epoll_wait;__schedule;finish_task_switch 3\n"
            "on_cpu node/4711 js:main;fib 250\n"
            "by_name node/0  9\n"
            "samples /0 native:main;native:memcpy 2\n");
  testing::read_every_prefix(kBpftraceFormat, text);
}

TEST(Bpftrace, KnowsWhatIsNone) {
  for (const std::string_view text : {"@count: 12\n", "main;parse 3\n", "@[node]: 3\n", ""}) {
    EXPECT_FALSE(kBpftraceFormat.recognise(text)) << text;
  }
  EXPECT_FALSE(testing::try_read_as(kBpftraceFormat, "@count: 12\n"));
}

TEST(Bcc, ReadsSamples) {
  const std::string text = read_test_file("fuzz/corpus/bcc/profile");
  EXPECT_TRUE(kBccFormat.recognise(text));
  EXPECT_FALSE(kFoldedFormat.recognise(text));
  EXPECT_FALSE(kPerfScriptFormat.recognise(text));
  EXPECT_EQ(lines_of(read_as(kBccFormat, text)),
            "samples node worker/4712 node::Start(int, char**);js:fib 31\n"
            "samples node/4711 write;kernel:do_syscall_64 2\n");
  testing::read_every_prefix(kBccFormat, text);
}

TEST(Bcc, ReadsTimesOffTheProcessor) {
  const std::string text = read_test_file("fuzz/corpus/bcc/offcputime");
  EXPECT_TRUE(kBccFormat.recognise(text));
  EXPECT_FALSE(kFoldedFormat.recognise(text));
  const Profile profile = read_as(kBccFormat, text);
  EXPECT_EQ(lines_of(profile),
            "off-cpu node/4711 uv__io_poll;epoll_wait;kernel:schedule;kernel:finish_task_switch 1500000\n"
            "off-cpu swapper/0/0 ? 7000\n");
  EXPECT_EQ(profile.event(EventId{}).unit, Unit::kNanoseconds);
  testing::read_every_prefix(kBccFormat, text);
}

}  // namespace
}  // namespace nodescope
