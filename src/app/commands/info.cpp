#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "app/commands/command.h"
#include "app/function_report.h"
#include "app/input.h"
#include "app/node_report_text.h"
#include "app/output.h"
#include "app/selection_options.h"
#include "base/text.h"

namespace nodescope {

namespace {

struct Options {
  std::string input = "-";
  std::string output = "-";
  bool json = false;
  SelectionOptions selection;
};

struct TimeSpan {
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;

  std::uint64_t length_ns() const {
    return static_cast<std::uint64_t>(last_ns) - static_cast<std::uint64_t>(first_ns);
  }
};

// What `info` tells: sums over one pass of the samples.
struct Contents {
  TimeSpan span;
  std::vector<std::uint64_t> samples_by_thread;
  std::vector<std::uint64_t> samples_by_event;
  std::vector<std::uint64_t> weight_by_event;
  std::array<std::uint64_t, kFrameKindCount> frames_by_kind{};
  std::uint64_t without_stack = 0;
};

Contents derive_contents(const Profile& profile) {
  Contents contents;
  contents.samples_by_thread.resize(profile.threads().size());
  contents.samples_by_event.resize(profile.events().size());
  contents.weight_by_event.resize(profile.events().size());
  const SampleTable& samples = profile.samples;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t time = samples.time_ns(i);
    contents.span.first_ns = i == 0 ? time : std::min(contents.span.first_ns, time);
    contents.span.last_ns = i == 0 ? time : std::max(contents.span.last_ns, time);
    const SampleContext& context = samples.context(i);
    ++contents.samples_by_thread[context.thread.index()];
    ++contents.samples_by_event[context.event.index()];
    contents.weight_by_event[context.event.index()] += samples.weight(i);
    if (samples.stack(i) == kEmptyStack) ++contents.without_stack;
  }
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    ++contents.frames_by_kind[static_cast<std::size_t>(profile.frames[FrameId{i}].kind)];
  }
  return contents;
}

std::string thread_name(const Profile& profile, const Thread& thread) {
  const Process& process = profile.process(thread.process);
  return fmt::format("{} {}/{}",
                     printable(profile.text(thread.name.index() != 0 ? thread.name : process.name)),
                     process.pid, thread.tid);
}

void append_threads(const Profile& profile, const Contents& contents, std::string& text) {
  constexpr std::size_t kShown = 20;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < contents.samples_by_thread.size(); ++i) {
    if (contents.samples_by_thread[i] != 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return contents.samples_by_thread[i]; });
  if (order.empty() || (order.size() == 1 && order[0] == 0)) return;
  text += "\nThreads, by samples\n";
  for (const std::size_t i : std::span(order).first(std::min(kShown, order.size()))) {
    fmt::format_to(std::back_inserter(text), "  {:>10}  {}\n", with_thousands(contents.samples_by_thread[i]),
                   thread_name(profile, profile.threads()[i]));
  }
  if (order.size() > kShown) text += fmt::format("  ({} more)\n", order.size() - kShown);
}

void append_diagnostics(const Diagnostics& diagnostics, std::string& text) {
  if (diagnostics.entries().empty()) return;
  text += "\nNoticed\n";
  for (const Diagnostic& entry : diagnostics.entries()) {
    fmt::format_to(std::back_inserter(text), "  {:>10}  {}{}{}\n", with_thousands(entry.count),
                   printable(entry.what), entry.example.empty() ? "" : ": ", printable(entry.example));
  }
}

std::string info_text(const Selected& selected, const Contents& contents) {
  const Profile& profile = selected.profile;
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<14}{}\n", name, value);
  };
  for (const auto& [name, value] : profile.facts) line(printable(name), printable(value));
  const Accounting& accounting = selected.accounting;
  line("samples", fmt::format("{} taken, {} here, {} filtered, {} lost", with_thousands(accounting.taken),
                              with_thousands(profile.samples.size()), with_thousands(accounting.filtered),
                              with_thousands(accounting.lost)));
  if (contents.span.length_ns() != 0) line("time", human_duration_ns(contents.span.length_ns()));
  for (std::size_t i = 0; i < profile.events().size(); ++i) {
    const Event& event = profile.events()[i];
    line("event", fmt::format("{}: {} samples, {}", printable(profile.text(event.name)),
                              with_thousands(contents.samples_by_event[i]),
                              human_count(contents.weight_by_event[i], event.unit)));
  }
  line("stacks", fmt::format("{} distinct call paths of {} frames", with_thousands(profile.stacks.size() - 1),
                             with_thousands(profile.frames.size())));
  std::string kinds;
  for (std::size_t i = 0; i < kFrameKindCount; ++i) {
    if (contents.frames_by_kind[i] == 0) continue;
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", with_thousands(contents.frames_by_kind[i]),
                         to_string(static_cast<FrameKind>(i)));
  }
  line("frames", kinds);
  if (contents.without_stack != 0) line("no stack", with_thousands(contents.without_stack) + " samples");
  if (!profile.mappings.empty()) line("mappings", with_thousands(profile.mappings.size()));
  if (!profile.markers.empty()) line("markers", with_thousands(profile.markers.size()));
  if (!profile.sources.empty()) {
    std::uint64_t bytes = 0;
    for (const SourceText& source : profile.sources) bytes += source.text.size();
    line("sources", fmt::format("{} files, {}", with_thousands(profile.sources.size()), human_bytes(bytes)));
  }
  append_threads(profile, contents, text);
  append_diagnostics(profile.diagnostics, text);
  return text;
}

void write_events(json::Writer& json, const Profile& profile, const Contents& contents) {
  json.key("events").begin_array();
  for (std::size_t i = 0; i < profile.events().size(); ++i) {
    const Event& event = profile.events()[i];
    json.begin_object();
    json.key("name").string(profile.text(event.name));
    json.key("unit").string(to_string(event.unit));
    json.key("samples").count(contents.samples_by_event[i]);
    json.key("weight").count(contents.weight_by_event[i]);
    json.end_object();
  }
  json.end_array();
}

void write_threads(json::Writer& json, const Profile& profile, const Contents& contents) {
  json.key("threads").begin_array();
  for (std::size_t i = 0; i < profile.threads().size(); ++i) {
    if (contents.samples_by_thread[i] == 0) continue;
    const Thread& thread = profile.threads()[i];
    const Process& process = profile.process(thread.process);
    json.line().begin_object();
    json.key("pid").integer(process.pid);
    json.key("tid").integer(thread.tid);
    json.key("process").string(profile.text(process.name));
    json.key("name").string(profile.text(thread.name));
    json.key("samples").count(contents.samples_by_thread[i]);
    json.end_object();
  }
  json.end_array();
}

Result<void> write_json(const Selected& selected, const Contents& contents, ByteSink& sink) {
  const Profile& profile = selected.profile;
  json::Writer json(sink);
  json.begin_object();
  json.key("facts").begin_object();
  for (const auto& [name, value] : profile.facts) json.untrusted_key(name).string(value);
  json.end_object();
  json.key("samples").begin_object();
  write_accounting(json, selected.accounting);
  json.end_object();
  json.key("duration_ns").count(contents.span.length_ns());
  json.key("stacks").count(profile.stacks.size() - 1);
  json.key("without_stack").count(contents.without_stack);
  json.key("frames").begin_object();
  for (std::size_t i = 0; i < kFrameKindCount; ++i) {
    json.key(to_string(static_cast<FrameKind>(i))).count(contents.frames_by_kind[i]);
  }
  json.end_object();
  json.key("mappings").count(profile.mappings.size());
  json.key("markers").count(profile.markers.size());
  json.key("sources").count(profile.sources.size());
  write_events(json, profile, contents);
  write_threads(json, profile, contents);
  json.line().key("diagnostics");
  write_diagnostics(json, profile.diagnostics);
  json.end_object();
  return json.finish();
}

Result<void> info(const Options& options) {
  auto source = open_content_of(options.input);
  if (!source) return std::unexpected(source.error());
  if (is_node_report((*source)->head())) return show_node_report(**source, options.output, options.json);
  auto profile = read_input_quietly(std::move(*source));
  if (!profile) return std::unexpected(profile.error());
  auto selected = select(std::move(*profile), options.selection, joined_names({options.input}));
  if (!selected) return std::unexpected(selected.error());
  const Contents contents = derive_contents(selected->profile);
  return write_output(options.output, [&](ByteSink& sink) {
    return options.json ? write_json(*selected, contents, sink) : sink.write(info_text(*selected, contents));
  });
}

}  // namespace

void add_info_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("info",
                                         "Tell what is in a profile, and what was lost or doubtful. "
                                         "Summarizes a diagnostic report of Node.js too.");
  command->group("Look");
  command->add_option("FILE", options->input, "A profile of any format; - or nothing for standard input");
  command->add_option("-o,--output", options->output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "For programs");
  add_selection_options(*command, options->selection);
  command->footer("Example\n  nodescope info perf.data");
  command->callback([options, &run] { run = [options] { return info(*options); }; });
}

}  // namespace nodescope
