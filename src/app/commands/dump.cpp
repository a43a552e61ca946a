#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <ranges>

#include "app/commands/command.h"
#include "app/function_report.h"
#include "app/help.h"
#include "app/output.h"
#include "app/stack_dump.h"
#include "app/target_options.h"
#include "base/text.h"
#include "capture/stopped_stacks.h"
#include "capture/thread_names.h"
#include "formats/symbol_name.h"
#include "json/writer.h"
#include "os/procfs.h"
#include "target/live_process.h"
#include "v8/process_view.h"

namespace nodescope {

namespace {

constexpr unsigned kMaxStopTimeoutMs = 1000;

struct Options {
  TargetOptions target;
  std::string output = "-";
  bool json = false;
  bool arguments = false;
  unsigned stop_timeout_ms = 50;
};

// A frame with everything that is said about it.
struct DumpedFrame {
  std::string kind;
  std::string function;
  std::string file;  // a native frame's module
  v8::LineColumn place;
  v8::Tier tier = v8::Tier::kNone;
  bool inlined = false;
  bool sure = true;
  std::optional<v8::Arguments> arguments;
};

// An asynchronous caller.
struct DumpedCaller {
  std::string function;
  std::string file;
  v8::LineColumn place;
  bool sure = true;
  bool is_combinator = false;
  std::int32_t index = -1;
};

struct DumpedThread {
  pid_t tid = 0;
  std::string name;
  std::vector<DumpedFrame> frames;
  std::vector<DumpedCaller> async_callers;
  bool async_lost = false;
  std::optional<std::size_t> runner;  // the innermost frame that runs microtasks
  UnwindEnd end = UnwindEnd::kRoot;
  bool stopped = true;
  std::string waits_in;  // the kernel's function, of one that did not stop
};

struct Dump {
  std::string title;
  std::int32_t pid = 0;
  v8::BinaryVersions versions;
  std::uint64_t stopped_ns = 0;
  std::vector<DumpedThread> threads;
  Diagnostics diagnostics;
};

DumpedFrame describe(v8::ProcessView& view, const v8::NativeFrame& native, Diagnostics& diagnostics) {
  v8::NativeSymbol symbol = view.resolve(native, diagnostics);
  DumpedFrame frame;
  frame.kind = "native";
  frame.sure = !symbol.name.empty() && !symbol.is_written;
  frame.function = symbol.name.empty() ? "[unknown]" : std::move(symbol.name);
  frame.file = std::move(symbol.module);
  return frame;
}

DumpedFrame describe(v8::ProcessView& view, const v8::Frame& js, Diagnostics& diagnostics) {
  DumpedFrame frame;
  frame.kind = v8::to_string(js.kind);
  frame.function = v8::display_name(js);
  if (frame.function.empty()) frame.function = "(anonymous)";
  const bool has_kind_only =
      js.function.empty() && js.kind != v8::FrameKind::kJs && js.kind != v8::FrameKind::kBuiltin;
  if (has_kind_only) {
    const std::string written = view.written_name(js.pc, diagnostics);
    if (!written.empty()) {
      frame.function = parse_symbol_name(written).function;
      frame.sure = false;
      frame.tier = js.tier;
      return frame;
    }
  }
  frame.tier = js.tier;
  frame.inlined = js.inlined;
  frame.sure = js.sure;
  frame.arguments = js.arguments;
  if (!js.script) return frame;
  frame.file = view.script_name(*js.script);
  if (const auto place = view.place(*js.script, js.offset)) {
    frame.place = *place;
  } else {
    frame.sure = false;
  }
  return frame;
}

DumpedCaller describe(v8::ProcessView& view, const v8::AsyncCaller& caller) {
  DumpedCaller dumped;
  dumped.is_combinator = caller.combinator != v8::Combinator::kNone;
  dumped.index = caller.index;
  dumped.sure = caller.frame.sure;
  dumped.function = v8::display_name(caller.frame);
  if (dumped.function.empty()) dumped.function = "(anonymous)";
  if (!caller.frame.script) return dumped;
  dumped.file = view.script_name(*caller.frame.script);
  if (const auto place = view.place(*caller.frame.script, caller.frame.offset)) {
    dumped.place = *place;
  } else {
    dumped.sure = false;
  }
  return dumped;
}

void add_async_callers(v8::ProcessView& view, const v8::Stack& stack, DumpedThread& thread) {
  for (const v8::AsyncCaller& caller : stack.async.callers)
    thread.async_callers.push_back(describe(view, caller));
  thread.async_lost = stack.async.lost;
  thread.runner = stack.runner;
}

// As recordings name it.
std::string thread_name(v8::ProcessView& view, const DumpedThread& thread, Address stack_pointer) {
  ThreadBegin begin;
  for (const DumpedFrame& frame : thread.frames | std::views::reverse | std::views::take(kRoleDepth))
    begin.functions.push_back(frame.function);
  begin.complete = thread.end == UnwindEnd::kRoot;
  begin.stack_pointer = stack_pointer;
  return name_thread(view.process().pid(), thread.tid, begin, &view);
}

// They mean nothing once the process has gone on.
void forget_addresses(DumpedThread& thread) {
  for (DumpedFrame& frame : thread.frames) {
    if (!frame.arguments) continue;
    frame.arguments->receiver_address = {};
    frame.arguments->addresses.clear();
  }
}

void add_not_stopped(Dump& dump, v8::ProcessView& view, const std::vector<pid_t>& tids) {
  for (const pid_t tid : tids) {
    DumpedThread thread;
    thread.tid = tid;
    thread.name = view.process().thread_name(tid);
    thread.stopped = false;
    const std::string place = read_proc_file(dump.pid, fmt::format("task/{}/wchan", tid)).value_or("");
    if (place != "0") thread.waits_in = place;
    dump.threads.push_back(std::move(thread));
  }
  std::ranges::sort(dump.threads, {}, &DumpedThread::tid);
}

// The process stands still only while stacks are read; names and lines are looked up afterwards.
Result<Dump> take_dump(v8::ProcessView& view, const StackDumpOptions& options, Diagnostics diagnostics) {
  Dump dump;
  dump.title = options.title;
  dump.pid = view.process().pid();
  dump.diagnostics = std::move(diagnostics);
  dump.versions = view.layout()->versions;
  if (options.arguments) view.read_arguments();
  if (!view.read_async_callers())
    dump.diagnostics.warn("asynchronous callers are not shown: the binary does not tell V8's builtins");
  const auto stopped = read_stopped_stacks(view, dump.diagnostics, options.stop);
  if (!stopped) return std::unexpected(stopped.error());
  dump.stopped_ns = stopped->stopped_ns;
  for (const ThreadStack& read : stopped->threads) {
    if (options.thread && read.tid != *options.thread) continue;
    DumpedThread& thread = dump.threads.emplace_back();
    thread.tid = read.tid;
    thread.end = read.stack.end;
    add_async_callers(view, read.stack, thread);
    for (const v8::StackEntry& entry : read.stack.entries) {
      thread.frames.push_back(
          std::visit([&](const auto& frame) { return describe(view, frame, dump.diagnostics); }, entry));
    }
    if (!options.addresses) forget_addresses(thread);
    thread.name = thread_name(view, thread, read.stack_pointer);
    if (read.stack.has_gap) {
      dump.diagnostics.warn("native frames are missing before the JavaScript part of a stack",
                            fmt::format("thread {}", thread.tid));
    }
    if (thread.async_lost) {
      dump.diagnostics.warn("asynchronous callers could not be told", fmt::format("thread {}", thread.tid));
    }
    if (thread.end != UnwindEnd::kRoot) {
      dump.diagnostics.warn("stack is not complete",
                            fmt::format("thread {} ends at {}", thread.tid, to_string(thread.end)));
    }
  }
  if (!stopped->not_stopped.empty() && !options.thread) add_not_stopped(dump, view, stopped->not_stopped);
  if (options.thread && dump.threads.empty())
    return fail(ErrorCode::kNotFound, fmt::format("process {} has no thread {}", dump.pid, *options.thread));
  return dump;
}

std::string place_text(const DumpedFrame& frame) {
  std::string text = printable(frame.file.empty() ? "<anonymous>" : frame.file);
  if (frame.place.line != 0) text += fmt::format(":{}:{}", frame.place.line, frame.place.column);
  return text;
}

std::string address_text(Address address) {
  return address == Address{} ? std::string() : fmt::format(" @0x{:x}", address.value);
}

std::string arguments_text(const v8::Arguments& arguments) {
  std::string text = "      this: " + printable(arguments.receiver) +
                     address_text(arguments.receiver_address) + "\n      arguments: ";
  for (std::size_t i = 0; i < arguments.values.size(); ++i) {
    text += (i == 0 ? "" : ", ") + printable(arguments.values[i]);
    if (i < arguments.addresses.size()) text += address_text(arguments.addresses[i]);
  }
  if (arguments.count == 0) text += "none";
  if (arguments.count > arguments.values.size())
    text += fmt::format(", … {} more", arguments.count - arguments.values.size());
  return text + (arguments.sure ? "\n" : "  [not sure]\n");
}

std::string frame_text(const DumpedFrame& frame) {
  std::string text = "  " + printable(frame.function);
  if (frame.kind == "js" || frame.kind == "native") text += fmt::format("  {}", place_text(frame));
  std::string notes;
  const auto note = [&](std::string_view word) { notes += (notes.empty() ? "" : ", ") + std::string(word); };
  if (frame.kind != "js") note(frame.kind);
  if (frame.tier != v8::Tier::kNone) note(to_string(frame.tier));
  if (frame.inlined) note("inlined");
  if (!frame.sure) note("not sure");
  text += notes.empty() ? "\n" : fmt::format("  [{}]\n", notes);
  return frame.arguments ? text + arguments_text(*frame.arguments) : text;
}

std::string caller_text(const DumpedCaller& caller) {
  if (caller.is_combinator) {
    const std::string index = caller.index < 0 ? std::string() : fmt::format("  (index {})", caller.index);
    return fmt::format("  async {}{}\n", caller.function, index);
  }
  DumpedFrame place;
  place.file = caller.file;
  place.place = caller.place;
  return fmt::format("  async {}  {}{}\n", printable(caller.function), place_text(place),
                     caller.sure ? "" : "  [not sure]");
}

// Asynchronous callers stand in place of what runs microtasks, unless the user's code is there, too.
std::size_t shown_frames(const DumpedThread& thread) {
  if (thread.async_callers.empty() || !thread.runner) return thread.frames.size();
  const bool has_user_code = std::ranges::any_of(
      thread.frames | std::views::drop(*thread.runner),
      [](const DumpedFrame& frame) { return frame.kind == "js" && !frame.file.starts_with("node:"); });
  return has_user_code ? thread.frames.size() : *thread.runner;
}

std::string thread_text(const DumpedThread& thread) {
  std::string text = fmt::format("\nThread {} {}\n", thread.tid, printable(thread.name));
  const std::size_t shown = shown_frames(thread);
  for (const DumpedFrame& frame : thread.frames | std::views::take(shown)) text += frame_text(frame);
  for (const DumpedCaller& caller : thread.async_callers) text += caller_text(caller);
  if (thread.async_lost) text += "  (its asynchronous callers are not known)\n";
  if (shown < thread.frames.size())
    text += fmt::format("  ({} frames of what runs microtasks)\n", thread.frames.size() - shown);
  if (!thread.stopped) {
    text += fmt::format("  (not stopped: in uninterruptible sleep{}{})\n",
                        thread.waits_in.empty() ? "" : ", in the kernel's ", printable(thread.waits_in));
  }
  if (thread.end != UnwindEnd::kRoot) text += fmt::format("  ({})\n", to_string(thread.end));
  return text;
}

std::string dump_text(const Dump& dump) {
  std::string text =
      fmt::format("{} {}, Node.js {}, V8 {}", dump.title, dump.pid, dump.versions.node, dump.versions.v8);
  if (dump.stopped_ns != 0) text += fmt::format("; stopped for {}", human_duration_ns(dump.stopped_ns));
  text += '\n';
  for (const DumpedThread& thread : dump.threads) text += thread_text(thread);
  for (const Diagnostic& entry : dump.diagnostics.entries()) {
    text += fmt::format("\n{}: {}{}{}\n", with_thousands(entry.count), printable(entry.what),
                        entry.example.empty() ? "" : ": ", printable(entry.example));
  }
  return text;
}

void write_optional(json::Writer& json, std::string_view key, std::string_view text) {
  json.key(key);
  text.empty() ? json.null() : json.string(text);
}

void write_address(json::Writer& json, Address address) {
  address == Address{} ? json.null() : json.string(fmt::format("0x{:x}", address.value));
}

void write_place(json::Writer& json, const v8::LineColumn& place) {
  const auto number = [&](std::string_view key, std::uint32_t value) {
    json.key(key);
    value == 0 ? json.null() : json.count(value);
  };
  number("line", place.line);
  number("column", place.column);
}

void write_caller(json::Writer& json, const DumpedCaller& caller) {
  json.line().begin_object();
  json.key("async").boolean(true);
  if (caller.is_combinator) {
    json.key("combinator").string(caller.function);
    json.key("index");
    caller.index < 0 ? json.null() : json.count(static_cast<std::uint64_t>(caller.index));
  } else {
    json.key("function").string(caller.function);
    write_optional(json, "file", caller.file);
    write_place(json, caller.place);
    json.key("sure").boolean(caller.sure);
  }
  json.end_object();
}

void write_frame(json::Writer& json, const DumpedFrame& frame) {
  json.line().begin_object();
  json.key("kind").string(frame.kind);
  json.key("function").string(frame.function);
  write_optional(json, "file", frame.file);
  write_place(json, frame.place);
  write_optional(json, "tier", to_string(frame.tier));
  json.key("inlined").boolean(frame.inlined);
  json.key("sure").boolean(frame.sure);
  if (frame.arguments) {
    json.key("receiver").string(frame.arguments->receiver);
    json.key("arguments").begin_array();
    for (const std::string& value : frame.arguments->values) json.string(value);
    json.end_array();
    if (!frame.arguments->addresses.empty() || frame.arguments->receiver_address != Address{}) {
      write_address(json.key("receiver_address"), frame.arguments->receiver_address);
      json.key("argument_addresses").begin_array();
      for (const Address address : frame.arguments->addresses) write_address(json, address);
      json.end_array();
    }
    json.key("argument_count").count(frame.arguments->count);
    json.key("arguments_sure").boolean(frame.arguments->sure);
  }
  json.end_object();
}

Result<void> write_json(const Dump& dump, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("pid").integer(dump.pid);
  json.key("node").string(dump.versions.node);
  json.key("v8").string(dump.versions.v8);
  json.key("stopped_ms").decimal(static_cast<std::int64_t>(dump.stopped_ns / 1000), 3);
  json.key("threads").begin_array();
  for (const DumpedThread& thread : dump.threads) {
    json.line().begin_object();
    json.key("tid").integer(thread.tid);
    json.key("name").string(thread.name);
    json.key("stopped").boolean(thread.stopped);
    write_optional(json, "waits_in", thread.waits_in);
    json.key("frames").begin_array();
    for (const DumpedFrame& frame : thread.frames) write_frame(json, frame);
    for (const DumpedCaller& caller : thread.async_callers) write_caller(json, caller);
    json.end_array();
    json.key("async_lost").boolean(thread.async_lost).end_object();
  }
  json.end_array();
  json.line().key("diagnostics");
  write_diagnostics(json, dump.diagnostics);
  json.end_object();
  return json.finish();
}

Result<void> run_dump(const Options& options) {
  const auto pid = select_one_target(options.target.spec());
  if (!pid) return std::unexpected(pid.error());
  Diagnostics diagnostics;
  v8::ViewCache cache;
  auto process = LiveProcess::open(*pid);
  if (!process) return std::unexpected(process.error());
  auto view = v8::ProcessView::open(std::move(*process), cache, diagnostics);
  if (!view) return std::unexpected(view.error());
  const StackDumpOptions dump{.json = options.json,
                              .arguments = options.arguments,
                              .stop = {.deadline = std::chrono::milliseconds(options.stop_timeout_ms)}};
  const auto write = [&](ByteSink& sink) {
    return write_stack_dump(**view, dump, std::move(diagnostics), sink);
  };
  return write_output(options.output, write, options.arguments ? Readers::kOwner : Readers::kByUmask);
}

}  // namespace

Result<void> write_stack_dump(v8::ProcessView& view, const StackDumpOptions& options, Diagnostics diagnostics,
                              ByteSink& sink) {
  const auto dump = take_dump(view, options, std::move(diagnostics));
  if (!dump) return std::unexpected(dump.error());
  return options.json ? write_json(*dump, sink) : sink.write(dump_text(*dump));
}

void add_dump_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("dump", "Print the stack of every thread of a running Node.js process, now.");
  command->group("Live");
  add_target_options(*command, options->target, HowMany::kOne);
  command->add_option("-o,--output", options->output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command->add_flag(
      "--args", options->arguments,
      "Receiver and arguments of each JavaScript function; in optimized code what is left of them");
  limit(
      *command
           ->add_option("--stop-timeout", options->stop_timeout_ms,
                        "How long threads have to stop; one in uninterruptible sleep (a disk, NFS, vfork) is "
                        "shown as not stopped (50)")
           ->type_name("MS"),
      1, kMaxStopTimeoutMs);
  command->add_flag("--json", options->json, "For programs");
  command->footer(
      "The process stands still for some milliseconds while its stacks are read; the output says for how "
      "long.\n\n"
      "Examples\n"
      "  nodescope dump 4711\n"
      "  nodescope dump server.js");
  command->callback([options, &run] { run = [options] { return run_dump(*options); }; });
}

}  // namespace nodescope
