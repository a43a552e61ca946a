#include "app/core/info.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/heap/leak.h"
#include "app/core/class_rows.h"
#include "app/core/value_text.h"
#include "app/function_report.h"
#include "base/text.h"
#include "capture/heap_graph_maker.h"
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
enum class CauseKind : std::uint8_t { kOther, kException, kOutOfMemory };
struct Cause {
  std::string_view function;  // a part of its name
  std::string_view message;
  CauseKind kind = CauseKind::kOther;
};
constexpr Cause kCauses[] = {
    {"FatalProcessOutOfMemory", "out of memory: JavaScript heap limit reached", CauseKind::kOutOfMemory},
    {"OOMErrorHandler", "out of memory: JavaScript heap limit reached", CauseKind::kOutOfMemory},
    {"TriggerUncaughtException", "uncaught exception", CauseKind::kException},
    {"Isolate::Throw", "uncaught exception", CauseKind::kException},
    {"ReportFatalException", "uncaught exception", CauseKind::kException},
    {"node::Assert", "assertion of Node.js failed"},
    {"OnFatalError", "fatal error of V8"},
    {"V8_Fatal", "fatal error of V8"},
    {"node::Abort", "process.abort() or a failed assertion of Node.js"},
    {"node::abort", "process.abort() or a failed assertion of Node.js"},
};

// What V8 tells the embedder about where memory ran out; Node.js prints it.
constexpr std::string_view kFatalTexts[] = {
    "Reached heap limit",    "Ineffective mark-compacts near heap limit",
    "CALL_AND_RETRY_LAST",   "invalid array length",
    "invalid table size",    "MarkCompactCollector",
    "Committing semi space", "Scavenger: semi-space copy",
};

// More would need more memory than a machine with such a core has to spare.
constexpr std::uint32_t kMaxGraphObjects = 12'000'000;

// What fills the heap of a process that ran out of memory.
struct Filling {
  struct Part {
    std::string name;  // of the class
    std::uint64_t count = 0;
    std::uint64_t retained_bytes = 0;  // 0: not derived
    std::string holder;
  };
  std::uint64_t heap_bytes = 0;  // of V8's pages
  std::vector<Part> parts;       // largest first
};
constexpr std::size_t kMaxParts = 3;

struct Findings {
  std::string signal;
  std::string meaning;
  std::optional<std::string> message;
  std::optional<v8::DecodedValue> exception;
  std::string innermost;  // the frame of JavaScript that ran
  std::optional<Filling> filling;
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

// The text as Node.js prints it: the address of its first part was an argument.
std::optional<std::string> find_fatal_text(CoreSession& session, Address stack_pointer) {
  constexpr std::string_view kRest = " Allocation failed - JavaScript heap out of memory";
  constexpr std::size_t kMaxText = 128;
  Memory& memory = session.view().process().memory();
  for (std::uint64_t offset = 0; offset < kMaxSearchedBytes; offset += 8) {
    const auto word = memory.load<std::uint64_t>(stack_pointer + offset);
    if (!word) break;
    const Region* region = session.view().process().map().find(Address{*word});
    if (region == nullptr || !region->has_file() || region->writable) continue;
    const auto bytes = memory.load<std::array<char, kMaxText>>(Address{*word});
    if (!bytes) continue;
    std::string text(bytes->data(),
                     static_cast<std::size_t>(std::ranges::find(*bytes, '\0') - bytes->begin()));
    const bool is_known =
        std::ranges::any_of(kFatalTexts, [&](std::string_view known) { return text.starts_with(known); });
    if (!is_known) continue;
    if (!text.ends_with("out of memory")) text += kRest;
    return "FATAL ERROR: " + to_valid_utf8(text);
  }
  return std::nullopt;
}

std::vector<HeapLeak> leaks_in(WalkedHeap& heap, const WalkedHeap::IsolateObjects& isolate) {
  if (isolate.objects.size() > kMaxGraphObjects) return {};
  const auto graph =
      make_heap_graph(heap.image(), heap.heap().layout(), isolate.objects, isolate.isolate, {});
  return graph ? find_what_fills(HeapAnalysis(*graph), kMaxParts) : std::vector<HeapLeak>();
}

// Of the heap of the thread that ran out of memory.
std::optional<Filling> find_filling(CoreSession& session, pid_t tid) {
  auto walked = session.heap();
  if (!walked) return std::nullopt;
  WalkedHeap& heap = **walked;
  auto isolate = std::ranges::find(heap.isolates(), tid, [](const auto& each) { return each.isolate.tid; });
  if (isolate == heap.isolates().end()) isolate = heap.isolates().begin();
  Filling filling;
  for (const v8::HeapImage::Page& page : heap.image().pages()) {
    if (page.page.heap == isolate->isolate.heap) filling.heap_bytes += page.page.range.size_bytes();
  }
  for (const HeapLeak& leak : leaks_in(heap, *isolate))
    filling.parts.push_back({leak.name, static_cast<std::uint64_t>(leak.count_delta),
                             static_cast<std::uint64_t>(leak.retained_delta_bytes),
                             leak.holder + leak.owners});
  if (!filling.parts.empty()) return filling;
  const std::vector<ClassRow> rows = derive_class_rows(heap, *isolate, false);
  for (std::size_t i = 0; i < std::min(rows.size(), kMaxParts); ++i)
    filling.parts.push_back({rows[i].name, rows[i].count, 0, {}});
  return filling;
}

Result<void> examine_threads(CoreSession& session, Findings& findings) {
  if (session.core() != nullptr) {
    if (auto held = session.hold(); !held) return held;
  }
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
  if (cause->kind == CauseKind::kException && !session.without_v8())
    findings.exception = find_exception(session, thread.stack_pointer);
  if (cause->kind != CauseKind::kOutOfMemory || session.core() == nullptr) return {};
  if (auto text = find_fatal_text(session, thread.stack_pointer)) findings.message = std::move(*text);
  findings.filling = find_filling(session, thread.tid);
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

std::string part_text(const Filling::Part& part) {
  std::string text = fmt::format("{} {}", with_thousands(part.count), printable(part.name));
  if (part.retained_bytes != 0) text += fmt::format(" ({})", human_bytes(part.retained_bytes));
  if (!part.holder.empty()) text += ", held by " + printable(part.holder);
  return text;
}

std::string info_text(CoreSession& session, const Findings& findings) {
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
  if (session.without_v8()) {
    add_row(text, "JavaScript", "cannot be read: " + printable(session.without_v8()->message));
  } else {
    add_row(text, "ran", findings.innermost.empty() ? "no JavaScript" : printable(findings.innermost));
  }
  if (findings.filling) {
    add_row(text, "heap", human_bytes(findings.filling->heap_bytes) + ", filled by");
    for (const Filling::Part& part : findings.filling->parts) add_row(text, "", part_text(part));
  }
  if (const v8::Layout* layout = session.view().layout())
    add_row(text, "Node.js", fmt::format("{}, V8 {}", layout->versions.node, layout->versions.v8));
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

void write_filling(json::Writer& json, const Filling& filling) {
  json.begin_object();
  json.key("bytes").count(filling.heap_bytes);
  json.key("filled_by").begin_array();
  for (const Filling::Part& part : filling.parts) {
    json.line().begin_object().key("class").string(part.name).key("count").count(part.count);
    json.key("retained_bytes");
    part.retained_bytes == 0 ? json.null() : json.count(part.retained_bytes);
    write_optional(json, "holder", part.holder);
    json.end_object();
  }
  json.end_array().end_object();
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
  json.line().key("heap");
  findings.filling ? write_filling(json, *findings.filling) : static_cast<void>(json.null());
  json.line();
  const v8::Layout* const layout = session.view().layout();
  write_optional(json, "node", layout == nullptr ? std::nullopt : std::optional(layout->versions.node));
  write_optional(json, "v8", layout == nullptr ? std::nullopt : std::optional(layout->versions.v8));
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
