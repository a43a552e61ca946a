#include "app/stack_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>

#include "app/function_report.h"
#include "base/text.h"
#include "json/writer.h"

namespace nodescope {

namespace {

// A frame in the words of people and programs.
struct FrameWords {
  std::string_view kind;
  std::string_view function;
  std::string_view file;  // a native frame's module
  const Frame& place;
};

std::string_view kind_of(const DumpedFrame& dumped, const Frame& frame) {
  const bool is_v8s = frame.kind == FrameKind::kJs || frame.kind == FrameKind::kBuiltin ||
                      frame.kind == FrameKind::kRegExp || frame.kind == FrameKind::kWasm;
  return dumped.is_native && !is_v8s ? "native" : to_string(frame.kind);
}

std::string_view function_of(const Profile& profile, const Frame& frame, bool is_native) {
  const std::string_view name = profile.text(frame.function);
  if (!name.empty()) return name;
  return is_native ? "[unknown]" : "(anonymous)";
}

FrameWords words_of(const Profile& profile, const DumpedFrame& dumped) {
  const Frame& frame = profile.frames[dumped.frame];
  const StringId file = dumped.is_native && frame.file == StringId{} ? frame.module : frame.file;
  return {kind_of(dumped, frame), function_of(profile, frame, dumped.is_native), profile.text(file), frame};
}

// Of the place that is executed, not of the function: "interpreter", where a profile has "interpreted".
std::string_view word_of(JsTier tier) {
  return tier == JsTier::kInterpreted ? "interpreter" : to_string(tier);
}

// A place in WebAssembly is a byte of its module, which V8 and other tools write as a hexadecimal number.
std::string place_text(std::string_view file, const Frame& place) {
  std::string text = printable(file.empty() ? "<anonymous>" : file);
  if (place.line != 0 && place.kind == FrameKind::kWasm)
    return text + fmt::format(":0x{:x}", place.column - 1);
  if (place.line != 0) text += fmt::format(":{}:{}", place.line, place.column);
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

std::string frame_text(const Profile& profile, const DumpedFrame& dumped) {
  const FrameWords words = words_of(profile, dumped);
  std::string text = "  " + printable(words.function);
  const bool is_of_module = words.kind == "wasm" && !words.file.empty();
  if (words.kind == "js" || words.kind == "native" || is_of_module)
    text += "  " + place_text(words.file, words.place);
  std::string notes;
  const auto note = [&](std::string_view word) { notes += (notes.empty() ? "" : ", ") + std::string(word); };
  if (words.kind != "js") note(words.kind);
  if (words.place.tier != JsTier::kNone) note(word_of(words.place.tier));
  if (words.place.inlined) note("inlined");
  if (!dumped.sure) note("not sure");
  text += notes.empty() ? "\n" : fmt::format("  [{}]\n", notes);
  return dumped.arguments ? text + arguments_text(*dumped.arguments) : text;
}

std::string caller_text(const Profile& profile, const DumpedCaller& caller) {
  const Frame& frame = profile.frames[caller.frame];
  const std::string function = printable(function_of(profile, frame, false));
  if (caller.is_combinator) {
    const std::string index = caller.index < 0 ? std::string() : fmt::format("  (index {})", caller.index);
    return fmt::format("  async {}{}\n", function, index);
  }
  return fmt::format("  async {}  {}{}\n", function, place_text(profile.text(frame.file), frame),
                     caller.sure ? "" : "  [not sure]");
}

// Asynchronous callers stand in place of what runs microtasks, unless the user's code is there, too.
std::size_t shown_frames(const Profile& profile, const DumpedThread& thread) {
  if (thread.async_callers.empty() || !thread.runner) return thread.frames.size();
  const auto is_user_code = [&](const DumpedFrame& dumped) {
    const Frame& frame = profile.frames[dumped.frame];
    return frame.kind == FrameKind::kJs && !profile.text(frame.file).starts_with("node:");
  };
  const bool has_user_code =
      std::ranges::any_of(thread.frames | std::views::drop(*thread.runner), is_user_code);
  return has_user_code ? thread.frames.size() : *thread.runner;
}

std::string thread_text(const Profile& profile, const DumpedThread& thread) {
  const Thread& named = profile.thread(thread.thread);
  std::string text = fmt::format("\nThread {} {}\n", named.tid, printable(profile.text(named.name)));
  const std::size_t shown = shown_frames(profile, thread);
  for (const DumpedFrame& frame : thread.frames | std::views::take(shown)) text += frame_text(profile, frame);
  for (const DumpedCaller& caller : thread.async_callers) text += caller_text(profile, caller);
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

std::string dump_text(const ProcessDump& dump, std::string_view title) {
  std::string text =
      fmt::format("{} {}, Node.js {}, V8 {}", title, dump.pid, dump.versions.node, dump.versions.v8);
  if (dump.stopped_ns != 0) text += fmt::format("; stopped for {}", human_duration_ns(dump.stopped_ns));
  text += '\n';
  for (const DumpedThread& thread : dump.threads) text += thread_text(dump.profile, thread);
  for (const Diagnostic& entry : dump.profile.diagnostics.entries()) {
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

void write_place(json::Writer& json, const Frame& place) {
  const auto number = [&](std::string_view key, std::uint32_t value) {
    json.key(key);
    value == 0 ? json.null() : json.count(value);
  };
  number("line", place.line);
  number("column", place.column);
}

void write_caller(json::Writer& json, const Profile& profile, const DumpedCaller& caller) {
  const Frame& frame = profile.frames[caller.frame];
  const std::string_view function = function_of(profile, frame, false);
  json.line().begin_object();
  json.key("async").boolean(true);
  if (caller.is_combinator) {
    json.key("combinator").string(function);
    json.key("index");
    caller.index < 0 ? json.null() : json.count(static_cast<std::uint64_t>(caller.index));
  } else {
    json.key("function").string(function);
    write_optional(json, "file", profile.text(frame.file));
    write_place(json, frame);
    json.key("sure").boolean(caller.sure);
  }
  json.end_object();
}

void write_frame(json::Writer& json, const Profile& profile, const DumpedFrame& frame) {
  const FrameWords words = words_of(profile, frame);
  json.line().begin_object();
  json.key("kind").string(words.kind);
  json.key("function").string(words.function);
  write_optional(json, "file", words.file);
  write_place(json, words.place);
  write_optional(json, "tier", word_of(words.place.tier));
  json.key("inlined").boolean(words.place.inlined);
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

Result<void> write_json(const ProcessDump& dump, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("pid").integer(dump.pid);
  json.key("node").string(dump.versions.node);
  json.key("v8").string(dump.versions.v8);
  json.key("stopped_ms").decimal(static_cast<std::int64_t>(dump.stopped_ns / 1000), 3);
  json.key("threads").begin_array();
  for (const DumpedThread& thread : dump.threads) {
    json.line().begin_object();
    const Thread& named = dump.profile.thread(thread.thread);
    json.key("tid").integer(named.tid);
    json.key("name").string(dump.profile.text(named.name));
    json.key("stopped").boolean(thread.stopped);
    write_optional(json, "waits_in", thread.waits_in);
    json.key("frames").begin_array();
    for (const DumpedFrame& frame : thread.frames) write_frame(json, dump.profile, frame);
    for (const DumpedCaller& caller : thread.async_callers) write_caller(json, dump.profile, caller);
    json.end_array();
    json.key("async_lost").boolean(thread.async_lost).end_object();
  }
  json.end_array();
  json.line().key("diagnostics");
  write_diagnostics(json, dump.profile.diagnostics);
  json.end_object();
  return json.finish();
}

}  // namespace

Result<void> write_stack_dump(v8::ProcessView& view, const StackDumpOptions& options, Diagnostics diagnostics,
                              ByteSink& sink) {
  const auto dump = take_process_dump(view, options.dump, std::move(diagnostics));
  if (!dump) return std::unexpected(dump.error());
  return options.json ? write_json(*dump, sink) : sink.write(dump_text(*dump, options.title));
}

}  // namespace nodescope
