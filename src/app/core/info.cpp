#include "app/core/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "app/core/value_text.h"
#include "app/function_report.h"
#include "base/text.h"
#include "capture/stopped_stacks.h"
#include "json/writer.h"

namespace nodescope {

namespace {

// Between where an exception is thrown and where the process ends, all of it is on the stack.
constexpr std::size_t kMaxSearchedBytes = 256 * 1024;

struct SignalFact {
  std::int32_t number;
  std::string_view name;
  std::string_view meaning;
};
constexpr SignalFact kSignals[] = {
    {1, "SIGHUP", ""},
    {2, "SIGINT", "interrupted"},
    {3, "SIGQUIT", "asked to leave a core"},
    {4, "SIGILL", "an instruction that is none"},
    {5, "SIGTRAP", "V8 or native code stopped itself"},
    {6, "SIGABRT", "aborted"},
    {7, "SIGBUS", "memory that its file no longer has"},
    {8, "SIGFPE", "an impossible calculation"},
    {9, "SIGKILL", "killed"},
    {11, "SIGSEGV", "memory that it may not use"},
    {15, "SIGTERM", "asked to end"},
    {24, "SIGXCPU", "its limit of CPU time"},
    {31, "SIGSYS", "a system call that is forbidden"},
};

// What native functions on the stack say about why it ended.
struct Cause {
  std::string_view function;  // a part of its name
  std::string_view message;
  bool has_exception = false;
};
constexpr Cause kCauses[] = {
    {"FatalProcessOutOfMemory", "out of memory: JavaScript heap limit reached", false},
    {"OOMErrorHandler", "out of memory: JavaScript heap limit reached", false},
    {"TriggerUncaughtException", "uncaught exception", true},
    {"Isolate::Throw", "uncaught exception", true},
    {"ReportFatalException", "uncaught exception", true},
    {"node::Assert", "assertion of Node.js failed", false},
    {"OnFatalError", "fatal error of V8", false},
    {"V8_Fatal", "fatal error of V8", false},
    {"node::Abort", "process.abort() or a failed assertion of Node.js", false},
    {"node::abort", "process.abort() or a failed assertion of Node.js", false},
};

struct Findings {
  std::string signal;
  std::string meaning;
  std::optional<std::string> message;
  std::optional<v8::DecodedValue> exception;
  std::string innermost;  // the frame of JavaScript that ran
  std::size_t thread_count = 0;
  std::optional<pid_t> thread;  // that received the signal
  CoreProcess::Invocation invocation;
};

const Cause* find_cause(const std::vector<std::string>& functions) {
  for (const Cause& cause : kCauses) {
    for (const std::string& function : functions) {
      if (function.contains(cause.function)) return &cause;
    }
  }
  return nullptr;
}

std::string frame_text(v8::ProcessView& view, const v8::Frame& frame) {
  std::string name = v8::display_name(frame);
  if (name.empty()) name = "(anonymous)";
  if (!frame.script) return name;
  std::string text = fmt::format("{} {}", name, view.script_name(*frame.script));
  if (const auto place = view.place(*frame.script, frame.offset))
    text += fmt::format(":{}:{}", place->line, place->column);
  return text;
}

// The first Error that the words of the thread's stack refer to, from the innermost on.
std::optional<v8::DecodedValue> find_exception(CoreSession& session, Address stack_pointer) {
  v8::Heap& heap = session.view().heap();
  const v8::Fact& type = session.view().engine()->values.type_error;
  for (std::uint64_t offset = 0; offset < kMaxSearchedBytes; offset += 8) {
    const auto word = heap.word(stack_pointer + offset);
    if (!word) break;
    if (word->is_object() && heap.is(*word, type)) return session.decoder().decode(*word, {.depth = 1});
  }
  return std::nullopt;
}

Result<void> examine_threads(CoreSession& session, Findings& findings) {
  const auto stacks = read_stopped_stacks(session.view(), session.diagnostics());
  if (!stacks) return std::unexpected(stacks.error());
  findings.thread_count = stacks->threads.size();
  if (stacks->threads.empty()) return {};
  const ThreadStack& thread = stacks->threads.front();
  findings.thread = thread.tid;
  std::vector<std::string> functions;
  for (const v8::StackEntry& entry : thread.stack.entries) {
    if (const auto* native = std::get_if<v8::NativeFrame>(&entry)) {
      functions.push_back(session.view().resolve(*native, session.diagnostics()).name);
      continue;
    }
    const auto& frame = std::get<v8::Frame>(entry);
    if (frame.kind != v8::FrameKind::kJs) continue;
    findings.innermost = frame_text(session.view(), frame);
    break;
  }
  const Cause* cause = find_cause(functions);
  if (cause == nullptr) return {};
  findings.message = cause->message;
  if (cause->has_exception) findings.exception = find_exception(session, thread.stack_pointer);
  return {};
}

Result<Findings> examine(CoreSession& session) {
  Findings findings;
  if (auto examined = examine_threads(session, findings); !examined) return std::unexpected(examined.error());
  CoreProcess* const core = session.core();
  if (core == nullptr) return findings;
  findings.invocation = core->invocation();
  std::int32_t number = core->core().signal() ? core->core().signal()->number : 0;
  if (number == 0 && !core->core().threads().empty()) number = core->core().threads()[0].signal;
  // gdb stops a process to write its core.
  constexpr std::int32_t kStop = 19;
  if (number == 0 || number == kStop) return findings;
  findings.signal = signal_name(number);
  const auto known = std::ranges::find(kSignals, number, &SignalFact::number);
  if (known != std::end(kSignals)) findings.meaning = known->meaning;
  if (const auto& signal = core->core().signal(); signal && signal->fault_address)
    findings.meaning += fmt::format(", at 0x{:x}", signal->fault_address->value);
  return findings;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string completeness_text(const CoreFile& core) {
  std::string text = fmt::format("{} in the core", human_bytes(core.dumped_bytes() - core.cut_bytes()));
  if (core.cut_bytes() != 0)
    return text + fmt::format("; the file was cut off, {} are missing", human_bytes(core.cut_bytes()));
  return text + ", nothing was cut off";
}

void add_row(std::string& text, std::string_view name, std::string_view value) {
  if (!value.empty()) text += fmt::format("  {:<12}{}\n", name, value);
}

std::string binary_text(const CoreBinary& binary) {
  const std::string id = binary.build_id ? "build id " + binary.build_id->to_hex() : "no build id";
  if (binary.found_at.empty()) return fmt::format("{} ({}) was not found", printable(binary.path), id);
  const std::string place = binary.found_at == binary.path ? "" : ", from " + printable(binary.found_at);
  return fmt::format("{} ({}{})", printable(binary.path), id, place);
}

void add_core_rows(CoreSession& session, const Findings& findings, std::string& text) {
  const CoreProcess& core = *session.core();
  std::string command = joined(findings.invocation.arguments);
  if (command.empty()) command = core.core().command_line();
  add_row(text, "command", printable(command));
  for (const CoreBinary& binary : core.binaries()) {
    if (binary.is_executable) add_row(text, "program", binary_text(binary));
  }
  add_row(text, "memory", completeness_text(core.core()));
  for (const CoreBinary& binary : core.binaries()) {
    if (!binary.is_executable && binary.found_at.empty() && binary.build_id)
      add_row(text, "missing", binary_text(binary));
  }
}

std::string info_text(CoreSession& session, const Findings& findings) {
  const v8::BinaryVersions& versions = session.view().layout()->versions;
  std::string text = fmt::format("{} of process {}\n\n", session.core() != nullptr ? "Core" : "State",
                                 session.view().process().pid());
  if (!findings.signal.empty())
    add_row(text, "ended by",
            findings.signal + (findings.meaning.empty() ? "" : fmt::format(" ({})", findings.meaning)));
  add_row(text, "message", findings.message.value_or(""));
  if (findings.exception) {
    std::string exception = value_text(*findings.exception);
    while (exception.ends_with('\n')) exception.pop_back();
    add_row(text, "exception", exception);
  }
  add_row(text, "ran", printable(findings.innermost));
  add_row(text, "Node.js", fmt::format("{}, V8 {}", versions.node, versions.v8));
  add_row(text, "threads",
          findings.thread && session.core() != nullptr
              ? fmt::format("{}; {} received the signal", findings.thread_count, *findings.thread)
              : fmt::format("{}", findings.thread_count));
  if (session.core() != nullptr) add_core_rows(session, findings, text);
  for (const Diagnostic& entry : session.diagnostics().entries()) {
    text += fmt::format("\n{}: {}{}{}\n", with_thousands(entry.count), printable(entry.what),
                        entry.example.empty() ? "" : ": ", printable(entry.example));
  }
  return text;
}

void write_optional(json::Writer& json, std::string_view key, const std::optional<std::string>& text) {
  json.key(key);
  text && !text->empty() ? json.string(*text) : json.null();
}

void write_core_facts(json::Writer& json, const CoreProcess& core, const Findings& findings) {
  json.key("command_line").begin_array();
  for (const std::string& word : findings.invocation.arguments) json.string(word);
  json.end_array();
  json.line().key("dumped_bytes").count(core.core().dumped_bytes());
  json.key("cut_bytes").count(core.core().cut_bytes());
  json.line().key("binaries").begin_array();
  for (const CoreBinary& binary : core.binaries()) {
    if (!binary.build_id && binary.found_at.empty()) continue;
    json.line().begin_object();
    json.key("path").string(binary.path);
    write_optional(json, "build_id",
                   binary.build_id ? std::optional(binary.build_id->to_hex()) : std::nullopt);
    write_optional(json, "found_at", binary.found_at);
    json.key("verified").boolean(binary.is_verified);
    json.key("executable").boolean(binary.is_executable).end_object();
  }
  json.end_array();
}

Result<void> write_json(CoreSession& session, const Findings& findings, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("pid").integer(session.view().process().pid());
  write_optional(json, "signal", findings.signal);
  write_optional(json, "message", findings.message);
  json.line().key("exception");
  if (findings.exception) {
    write_value(json, *findings.exception);
  } else {
    json.null();
  }
  json.line();
  write_optional(json, "ran", findings.innermost);
  json.key("node").string(session.view().layout()->versions.node);
  json.key("v8").string(session.view().layout()->versions.v8);
  json.key("program").string(session.view().process().executable());
  json.key("threads").count(findings.thread_count);
  json.key("thread");
  findings.thread ? json.integer(*findings.thread) : json.null();
  if (session.core() != nullptr) write_core_facts(json, *session.core(), findings);
  json.line().key("diagnostics");
  write_diagnostics(json, session.diagnostics());
  json.end_object();
  return json.finish();
}

}  // namespace

std::string signal_name(std::int32_t number) {
  const auto known = std::ranges::find(kSignals, number, &SignalFact::number);
  return known != std::end(kSignals) ? std::string(known->name) : fmt::format("signal {}", number);
}

Result<void> write_core_info(CoreSession& session, bool json, ByteSink& sink) {
  const auto findings = examine(session);
  if (!findings) return std::unexpected(findings.error());
  return json ? write_json(session, *findings, sink) : sink.write(info_text(session, *findings));
}

Result<void> write_core_environment(CoreSession& session, bool json, ByteSink& sink) {
  if (session.core() == nullptr)
    return fail(ErrorCode::kUnsupported, "the environment of a running process is in /proc/PID/environ");
  const CoreProcess::Invocation invocation = session.core()->invocation();
  if (json) {
    json::Writer writer(sink);
    writer.begin_array();
    for (const std::string& entry : invocation.environment) writer.line().string(entry);
    writer.end_array();
    return writer.finish();
  }
  if (invocation.environment.empty())
    return fail(ErrorCode::kNotFound, "the core does not have the environment of the process");
  std::string text;
  for (const std::string& entry : invocation.environment) text += printable(entry) + "\n";
  return sink.write(text);
}

}  // namespace nodescope
