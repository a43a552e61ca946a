#include "capture/process_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/text.h"
#include "capture/frame_builder.h"
#include "capture/stopped_stacks.h"
#include "capture/thread_names.h"
#include "os/procfs.h"

namespace nodescope {

namespace {

class DumpBuilder {
 public:
  DumpBuilder(v8::ProcessView& view, const ProcessDumpOptions& options, Diagnostics diagnostics)
      : view_(view), options_(options), frames_(dump_.profile, view) {
    dump_.pid = view.process().pid();
    dump_.versions = view.layout()->versions;
    Profile& profile = dump_.profile;
    profile.diagnostics = std::move(diagnostics);
    event_ = profile.intern_event("stacks", Unit::kSamples);
    process_ = profile.intern_process(dump_.pid, to_valid_utf8(view.process().thread_name(dump_.pid)));
  }

  Result<ProcessDump> take() {
    if (options_.arguments) view_.read_arguments();
    if (!view_.read_async_callers())
      diagnostics().warn("asynchronous callers are not shown: the binary does not tell V8's builtins");
    auto stopped = read_stopped_stacks(view_, diagnostics(), options_.stop);
    if (!stopped) return std::unexpected(stopped.error());
    dump_.stopped_ns = stopped->stopped_ns;
    for (ThreadStack& read : stopped->threads) {
      if (!options_.thread || read.tid == *options_.thread) add(read);
    }
    if (!options_.thread) add_not_stopped(stopped->not_stopped);
    if (options_.thread && dump_.threads.empty()) {
      return fail(ErrorCode::kNotFound,
                  fmt::format("process {} has no thread {}", dump_.pid, *options_.thread));
    }
    return std::move(dump_);
  }

 private:
  Diagnostics& diagnostics() { return dump_.profile.diagnostics; }

  void add(ThreadStack& read) {
    DumpedThread thread;
    thread.end = read.stack.end;
    thread.async_lost = read.stack.async.lost;
    thread.runner = read.stack.runner;
    for (const v8::AsyncCaller& caller : read.stack.async.callers) {
      const FrameBuilder::Built built = frames_.build(caller.frame);
      thread.async_callers.push_back(
          {built.frame, built.sure, caller.combinator != v8::Combinator::kNone, caller.index});
    }
    for (v8::StackEntry& entry : read.stack.entries) add_frame(entry, thread);
    StackId stack = kEmptyStack;
    for (const DumpedFrame& frame : thread.frames | std::views::reverse)
      stack = dump_.profile.stacks.push(stack, frame.frame);
    thread.thread = dump_.profile.intern_thread(process_, read.tid, name_of(thread, read));
    dump_.profile.samples.add({0, stack, {thread.thread, kUnknownCpu, event_}, 1});
    note_doubts(thread, read);
    dump_.threads.push_back(std::move(thread));
  }

  void add_frame(v8::StackEntry& entry, DumpedThread& thread) {
    const FrameBuilder::Built built = frames_.build(entry);
    DumpedFrame& frame = thread.frames.emplace_back(DumpedFrame{built.frame, true, built.sure, {}});
    auto* const own = std::get_if<v8::Frame>(&entry);
    if (own == nullptr) return;
    frame.is_native = false;
    frame.arguments = std::move(own->arguments);
    // Addresses mean nothing once the process has gone on.
    if (!frame.arguments || options_.addresses) return;
    frame.arguments->receiver_address = {};
    frame.arguments->addresses.clear();
  }

  // As recordings name it.
  std::string name_of(const DumpedThread& thread, const ThreadStack& read) {
    ThreadBegin begin;
    for (const DumpedFrame& frame : thread.frames | std::views::reverse | std::views::take(kRoleDepth))
      begin.functions.push_back(dump_.profile.text(dump_.profile.frames[frame.frame].function));
    begin.complete = thread.end == UnwindEnd::kRoot;
    begin.stack_pointer = read.stack_pointer;
    return name_thread(dump_.pid, read.tid, begin, &view_);
  }

  void note_doubts(const DumpedThread& thread, const ThreadStack& read) {
    const std::string name = fmt::format("thread {}", read.tid);
    if (read.stack.has_gap)
      diagnostics().warn("native frames are missing before the JavaScript part of a stack", name);
    if (thread.async_lost) diagnostics().warn("asynchronous callers could not be told", name);
    if (thread.end != UnwindEnd::kRoot)
      diagnostics().warn("stack is not complete", fmt::format("{} ends at {}", name, to_string(thread.end)));
  }

  void add_not_stopped(const std::vector<pid_t>& tids) {
    for (const pid_t tid : tids) {
      DumpedThread thread;
      thread.thread =
          dump_.profile.intern_thread(process_, tid, to_valid_utf8(view_.process().thread_name(tid)));
      thread.stopped = false;
      const std::string place = read_proc_file(dump_.pid, fmt::format("task/{}/wchan", tid)).value_or("");
      if (place != "0") thread.waits_in = place;
      dump_.threads.push_back(std::move(thread));
    }
    std::ranges::sort(dump_.threads, {},
                      [&](const DumpedThread& thread) { return dump_.profile.thread(thread.thread).tid; });
  }

  v8::ProcessView& view_;
  const ProcessDumpOptions& options_;
  ProcessDump dump_;
  FrameBuilder frames_;
  EventId event_;
  ProcessId process_;
};

}  // namespace

Result<ProcessDump> take_process_dump(v8::ProcessView& view, const ProcessDumpOptions& options,
                                      Diagnostics diagnostics) {
  return DumpBuilder(view, options, std::move(diagnostics)).take();
}

}  // namespace nodescope
