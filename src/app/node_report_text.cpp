#include "app/node_report_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "app/function_report.h"
#include "app/input.h"
#include "app/output.h"
#include "base/text.h"
#include "json/writer.h"

namespace nodescope {

namespace {

// Of the header, in the order of the text.
struct HeaderLine {
  std::string_view key;
  std::string_view title;
};
constexpr std::array kHeaderLines = {
    HeaderLine{"trigger", "trigger"}, HeaderLine{"event", "event"},       HeaderLine{"dumpEventTime", "time"},
    HeaderLine{"processId", "pid"},   HeaderLine{"threadId", "thread"},   HeaderLine{"nodejsVersion", "node"},
    HeaderLine{"osName", "os"},       HeaderLine{"osRelease", "release"}, HeaderLine{"host", "host"},
    HeaderLine{"cwd", "folder"},
};

class ReportText {
 public:
  explicit ReportText(const NodeReport& report) : report_(report) {}

  std::string make() {
    add_header();
    add_stacks();
    add_heap();
    add_resources();
    add_handles();
    return std::move(text_);
  }

 private:
  void line(std::string_view title, std::string_view value) {
    fmt::format_to(std::back_inserter(text_), "{:<14}{}\n", title, printable(value));
  }

  void add_header() {
    line("format", "diagnostic report of Node.js");
    for (const HeaderLine& entry : kHeaderLines) {
      const std::string_view value = report_.header_value(entry.key);
      if (!value.empty()) line(entry.title, value);
    }
    if (!report_.command_line.empty())
      line("command", fmt::format("{}", fmt::join(report_.command_line, " ")));
  }

  void add_stacks() {
    text_ += "\nJavaScript stack\n";
    if (!report_.message.empty()) text_ += fmt::format("  {}\n", printable(report_.message));
    for (const std::string& frame : report_.javascript_stack)
      text_ += fmt::format("    {}\n", printable(frame));
    text_ += "\nNative stack\n";
    for (const NodeReport::NativeFrame& frame : report_.native_stack) {
      text_ += fmt::format("    {} {}\n", printable(frame.pc), printable(frame.symbol));
    }
  }

  std::uint64_t heap_bytes(std::string_view name) const {
    const auto found = std::ranges::find(report_.heap, name,
                                         [](const auto& entry) { return std::string_view(entry.first); });
    return found == report_.heap.end() ? 0 : found->second;
  }

  void add_heap() {
    if (report_.heap.empty() && report_.heap_spaces.empty()) return;
    const std::uint64_t used = heap_bytes("usedMemory");
    const std::uint64_t limit = heap_bytes("memoryLimit");
    text_ +=
        fmt::format("\nHeap: {} used of a limit of {} ({:.1f} %), {} outside of it, {} by malloc\n",
                    human_bytes(used), human_bytes(limit), percent(used, limit),
                    human_bytes(heap_bytes("externalMemory")), human_bytes(heap_bytes("mallocedMemory")));
    text_ += fmt::format("  {:>10} {:>10}  space\n", "used", "committed");
    for (const NodeReport::HeapSpace& space : report_.heap_spaces) {
      text_ += fmt::format("  {:>10} {:>10}  {}\n", human_bytes(space.used), human_bytes(space.committed),
                           printable(space.name));
    }
  }

  std::string_view resource(std::string_view name) const {
    const auto found = std::ranges::find(report_.resources, name,
                                         [](const auto& entry) { return std::string_view(entry.first); });
    return found == report_.resources.end() ? std::string_view() : std::string_view(found->second);
  }

  void add_resources() {
    if (report_.resources.empty()) return;
    text_ += "\n";
    const auto bytes = [&](std::string_view title, std::string_view name) {
      if (const auto value = parse_number<std::uint64_t>(resource(name))) line(title, human_bytes(*value));
    };
    const auto words = [&](std::string_view title, std::string_view name, std::string_view unit) {
      if (!resource(name).empty()) line(title, fmt::format("{} {}", resource(name), unit));
    };
    bytes("memory", "rss");
    bytes("largest", "maxRss");
    words("CPU, user", "userCpuSeconds", "s");
    words("CPU, kernel", "kernelCpuSeconds", "s");
    words("CPU use", "cpuConsumptionPercent", "% of one CPU since the start");
    if (report_.loop_idle_seconds) line("loop idle", fmt::format("{:.3f} s", *report_.loop_idle_seconds));
    if (report_.workers != 0) line("workers", with_thousands(report_.workers));
  }

  static std::string details_of(const NodeReport::Handle& handle) {
    std::string details;
    const auto add = [&](const std::string& what) {
      details += fmt::format("{}{}", details.empty() ? "" : ", ", what);
    };
    if (handle.file_descriptor) add(fmt::format("fd {}", *handle.file_descriptor));
    if (!handle.local.empty()) add(printable(handle.local));
    if (!handle.remote.empty()) add("to " + printable(handle.remote));
    if (handle.fires_in_ms) add(fmt::format("fires in {} ms", *handle.fires_in_ms));
    if (!handle.text.empty()) add(printable(handle.text));
    return details;
  }

  void add_handles() {
    constexpr std::size_t kShown = 100;
    std::map<std::string_view, std::size_t> quiet;
    std::size_t shown = 0;
    text_ += "\nHandles of libuv that keep the process alive\n";
    for (const NodeReport::Handle& handle : report_.handles) {
      if (!handle.is_active || !handle.is_referenced) {
        ++quiet[handle.type];
      } else if (++shown <= kShown) {
        text_ += fmt::format("  {:<12}{}\n", printable(handle.type), details_of(handle));
      }
    }
    if (shown == 0) text_ += "  none\n";
    if (shown > kShown) text_ += fmt::format("  ({} more)\n", shown - kShown);
    if (quiet.empty()) return;
    std::string others;
    for (const auto& [type, count] : quiet)
      others += fmt::format("{}{} {}", others.empty() ? "" : ", ", count, printable(type));
    text_ += fmt::format("  others, inactive or not waited for: {}\n", others);
  }

  const NodeReport& report_;
  std::string text_;
};

void write_handle(json::Writer& json, const NodeReport::Handle& handle) {
  json.line().begin_object();
  json.key("type").string(handle.type);
  json.key("active").boolean(handle.is_active);
  json.key("referenced").boolean(handle.is_referenced);
  if (handle.file_descriptor) json.key("fd").integer(*handle.file_descriptor);
  if (!handle.local.empty()) json.key("local").string(handle.local);
  if (!handle.remote.empty()) json.key("remote").string(handle.remote);
  if (handle.fires_in_ms) json.key("fires_in_ms").integer(*handle.fires_in_ms);
  if (!handle.text.empty()) json.key("text").string(handle.text);
  json.end_object();
}

void write_texts(json::Writer& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).begin_array();
  for (const std::string& text : texts) json.string(text);
  json.end_array();
}

}  // namespace

std::string node_report_text(const NodeReport& report) {
  return ReportText(report).make();
}

Result<void> write_node_report_json(const NodeReport& report, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object().key("format").string("node-report");
  json.key("header").begin_object();
  for (const auto& [name, value] : report.header) json.untrusted_key(name).string(value);
  json.end_object();
  write_texts(json, "command_line", report.command_line);
  json.line().key("message").string(report.message);
  write_texts(json, "javascript_stack", report.javascript_stack);
  json.line().key("native_stack").begin_array();
  for (const NodeReport::NativeFrame& frame : report.native_stack) {
    json.begin_object().key("pc").string(frame.pc);
    json.key("symbol").string(frame.symbol).end_object();
  }
  json.end_array().line().key("heap").begin_object();
  for (const auto& [name, bytes] : report.heap) json.untrusted_key(name).count(bytes);
  json.end_object().key("heap_spaces").begin_array();
  for (const NodeReport::HeapSpace& space : report.heap_spaces) {
    json.begin_object().key("name").string(space.name);
    json.key("used").count(space.used).key("committed").count(space.committed).end_object();
  }
  json.end_array().line().key("resources").begin_object();
  for (const auto& [name, value] : report.resources) json.untrusted_key(name).string(value);
  json.end_object();
  if (report.loop_idle_seconds) json.key("loop_idle_seconds").number(*report.loop_idle_seconds);
  json.key("workers").count(report.workers);
  json.line().key("handles").begin_array();
  for (const NodeReport::Handle& handle : report.handles) write_handle(json, handle);
  json.end_array().key("diagnostics");
  write_diagnostics(json, report.diagnostics);
  json.end_object();
  return json.finish();
}

Result<void> show_node_report(ByteSource& source, const std::string& output, bool json) {
  const auto report = read_node_report(source);
  if (!report) return std::unexpected(report.error());
  print_diagnostics(report->diagnostics, std::string(source.name()));
  return write_output(output, [&](ByteSink& sink) {
    return json ? write_node_report_json(*report, sink) : sink.write(node_report_text(*report));
  });
}

}  // namespace nodescope
