#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/profile.h"
#include "os/ptrace.h"
#include "v8/process_view.h"

namespace nodescope {

// What a profile has no place for: how a frame of one moment was called, and whether all of it is certain.
struct DumpedFrame {
  FrameId frame;
  bool is_native = false;  // not V8's
  bool sure = true;
  std::optional<v8::Arguments> arguments;
};

// An asynchronous caller.
struct DumpedCaller {
  FrameId frame;
  bool sure = true;
  bool is_combinator = false;
  std::int32_t index = -1;  // in what the combinator waits for; -1: not known
};

struct DumpedThread {
  ThreadId thread;
  std::vector<DumpedFrame> frames;  // innermost first
  std::vector<DumpedCaller> async_callers;
  bool async_lost = false;
  std::optional<std::size_t> runner;  // the innermost frame that runs microtasks
  UnwindEnd end = UnwindEnd::kRoot;
  bool stopped = true;
  std::string waits_in;  // the kernel's function, of one that did not stop
};

// The stacks of all threads of a process at one moment.
struct ProcessDump {
  // A sample of each thread that stood still, by the same rules as those of a recording.
  Profile profile;
  std::int32_t pid = 0;
  v8::BinaryVersions versions;
  std::uint64_t stopped_ns = 0;
  std::vector<DumpedThread> threads;
};

struct ProcessDumpOptions {
  bool arguments = false;            // receiver and arguments of each JavaScript function
  bool addresses = false;            // of these where they are objects
  std::optional<pid_t> thread = {};  // only this one
  StopOptions stop = {};
};

// The process stands still only while its stacks are read; names and lines are looked up afterwards.
Result<ProcessDump> take_process_dump(v8::ProcessView& view, const ProcessDumpOptions& options,
                                      Diagnostics diagnostics);

}  // namespace nodescope
