#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>

#include "app/commands/command.h"
#include "app/function_report.h"
#include "app/output.h"
#include "app/target_options.h"
#include "app/walker_check.h"
#include "base/text.h"
#include "capture/inspector_gate.h"
#include "json/writer.h"
#include "os/file.h"
#include "target/core_fate.h"
#include "target/live_process.h"
#include "target/machine_check.h"
#include "v8/process_view.h"

namespace nodescope {

namespace {

struct Options {
  TargetOptions target;
  bool json = false;
  bool close_inspectors = false;
};

// What is known about the V8 of a binary or a process.
struct BinaryReport {
  std::string path;
  v8::BinaryVersions versions;
  bool known_version = false;
  std::vector<v8::NamedFact> facts;
};

struct Report {
  MachineFacts machine;
  std::vector<Check> checks;
  std::vector<OpenedInspector> left_open;
  std::optional<BinaryReport> binary;
  std::optional<pid_t> pid;
  std::optional<WalkerCounts> counts;
  WalkerVerdict verdict;
  Diagnostics diagnostics;
  std::optional<Error> failure;  // of the target
};

// A file that begins like a program is a binary; a script of that name is a pattern for processes.
bool is_program(const std::string& path) {
  constexpr std::string_view kMagic = "\177ELF";
  auto source = open_file(path);
  if (!source) return false;
  std::array<std::byte, kMagic.size()> first{};
  const auto count = (*source)->read(first);
  return count && *count == first.size() && as_text(first) == kMagic;
}

BinaryReport describe(const v8::Layout& layout, std::string path) {
  return {std::move(path), layout.versions, layout.is_known_version(), v8::list_facts(layout)};
}

Result<BinaryReport> examine_binary(const std::string& path) {
  auto source = open_file(path);
  if (!source) return std::unexpected(source.error());
  const auto elf = OwnedElf::read(std::move(*source));
  if (!elf) return fail(elf.error(), path);
  if (!has_v8_metadata(elf->file()))
    return fail(ErrorCode::kUnsupported,
                path + " is not Node.js: it does not hold V8 (is it in a library beside it?)");
  const auto layout = v8::Layout::build(elf->file());
  if (!layout) return fail(layout.error(), path);
  BinaryReport report = describe(*layout, path);
  std::ranges::copy(v8::list_facts(v8::AsyncLayout::build(elf->file(), *layout)),
                    std::back_inserter(report.facts));
  return report;
}

Result<void> examine_process(pid_t pid, Report& report) {
  v8::ViewCache cache;
  auto process = LiveProcess::open(pid);
  if (!process) return std::unexpected(process.error());
  auto view = v8::ProcessView::open(std::move(*process), cache, report.diagnostics);
  if (!view) return std::unexpected(view.error());
  report.binary = describe(*(*view)->layout(), (*view)->process().executable());
  const auto counts = test_walker(**view, report.diagnostics);
  if (!counts) return std::unexpected(counts.error());
  report.counts = *counts;
  report.verdict = derive_verdict(*counts, report.binary->known_version);
  return {};
}

Result<void> examine_target(const Options& options, Report& report) {
  const TargetSpec spec = options.target.spec();
  if (spec.empty()) return {};
  if (spec.targets.size() == 1 && spec.pids.empty() && is_program(spec.targets[0])) {
    auto binary = examine_binary(spec.targets[0]);
    if (!binary) return std::unexpected(binary.error());
    report.binary = std::move(*binary);
    return {};
  }
  const auto pid = select_one_target(spec);
  if (!pid) return std::unexpected(pid.error());
  report.pid = *pid;
  report.checks.push_back(derive_core_check(read_core_fate(*pid)));
  return examine_process(*pid, report);
}

std::string machine_text(const Report& report) {
  const MachineFacts& facts = report.machine;
  const auto value = [](const std::optional<std::int64_t>& number) {
    return number ? fmt::format("{}", *number) : std::string("-");
  };
  std::string text =
      fmt::format("Kernel {}; perf_event_paranoid {}, kptr_restrict {}, yama.ptrace_scope {}{}\n",
                  printable(facts.kernel), value(facts.perf_event_paranoid), value(facts.kptr_restrict),
                  value(facts.ptrace_scope), facts.in_container ? "; in a container" : "");
  const Privileges& user = facts.privileges;
  std::string capabilities;
  for (const auto& [capability, name] : {std::pair{Capability::kSysPtrace, "CAP_SYS_PTRACE"},
                                         {Capability::kPerfmon, "CAP_PERFMON"},
                                         {Capability::kSysAdmin, "CAP_SYS_ADMIN"},
                                         {Capability::kSyslog, "CAP_SYSLOG"}}) {
    if (user.has(capability)) capabilities += (capabilities.empty() ? "" : ", ") + std::string(name);
  }
  text += fmt::format("User {}; {}{}\n\n", user.user,
                      capabilities.empty() ? "no capability that helps" : capabilities,
                      user.has_seccomp_filter ? "; a seccomp filter is active" : "");
  for (const Check& check : report.checks) {
    fmt::format_to(std::back_inserter(text), "{:<7} {}: {}\n", to_string(check.verdict), check.what,
                   check.why);
    if (!check.remedy.empty()) fmt::format_to(std::back_inserter(text), "        remedy: {}\n", check.remedy);
  }
  for (const OpenedInspector& opened : report.left_open) {
    fmt::format_to(std::back_inserter(text),
                   "open    the inspector of process {}: a recording that was killed has opened it\n"
                   "        remedy: nodescope doctor --close-inspectors\n",
                   opened.pid);
  }
  return text;
}

std::string binary_text(const BinaryReport& binary) {
  const auto absent = std::ranges::count(binary.facts, v8::Origin::kAbsent,
                                         [](const v8::NamedFact& fact) { return fact.fact.origin; });
  std::string text =
      fmt::format("\n{}: Node.js {}, V8 {} ({})\n{} facts about this V8, {} absent\n", printable(binary.path),
                  binary.versions.node.empty() ? "?" : binary.versions.node, binary.versions.v8,
                  binary.known_version ? "known" : "newer than nodescope knows", binary.facts.size(), absent);
  for (const v8::NamedFact& fact : binary.facts) {
    fmt::format_to(std::back_inserter(text), "  {:<32} {:>8}  {}\n", fact.name,
                   fact.fact.known() ? fmt::format("{}", fact.fact.value) : "-", to_string(fact.fact.origin));
  }
  return text;
}

std::string walker_text(const Report& report) {
  const WalkerCounts& counts = *report.counts;
  std::string text = fmt::format(
      "\nProcess {}: {} stops of at most {}; {} stacks, {} of them not complete; {} frames of JavaScript\n",
      *report.pid, counts.stops, human_duration_ns(counts.longest_stop_ns), counts.stacks, counts.incomplete,
      counts.js);
  const auto line = [&](std::string_view what, const TrustIn& part) {
    fmt::format_to(std::back_inserter(text), "{:<9} {}: {}\n", to_string(part.trust), what, part.why);
  };
  line("names", report.verdict.names);
  line("lines", report.verdict.lines);
  line("inlined functions", report.verdict.inlined);
  return text;
}

std::string report_text(const Report& report) {
  std::string text = machine_text(report);
  if (report.binary) text += binary_text(*report.binary);
  if (report.counts) text += walker_text(report);
  for (const Diagnostic& entry : report.diagnostics.entries()) {
    text += fmt::format("\n{}: {}{}{}\n", with_thousands(entry.count), printable(entry.what),
                        entry.example.empty() ? "" : ": ", printable(entry.example));
  }
  return text;
}

void write_machine(json::Writer& json, const MachineFacts& facts) {
  const auto number = [&](std::string_view key, const std::optional<std::int64_t>& value) {
    json.key(key);
    value ? json.integer(*value) : json.null();
  };
  json.key("kernel").string(facts.kernel);
  json.key("user").count(facts.privileges.user);
  json.key("cap_sys_ptrace").boolean(facts.privileges.has(Capability::kSysPtrace));
  json.key("cap_perfmon").boolean(facts.privileges.has(Capability::kPerfmon));
  json.key("cap_sys_admin").boolean(facts.privileges.has(Capability::kSysAdmin));
  json.key("seccomp_filter").boolean(facts.privileges.has_seccomp_filter);
  json.key("in_container").boolean(facts.in_container);
  number("perf_event_paranoid", facts.perf_event_paranoid);
  number("perf_event_mlock_kb", facts.perf_mlock_kb);
  number("kptr_restrict", facts.kptr_restrict);
  number("ptrace_scope", facts.ptrace_scope);
}

void write_binary(json::Writer& json, const BinaryReport& binary) {
  json.begin_object();
  json.key("path").string(binary.path);
  json.key("node").string(binary.versions.node);
  json.key("v8").string(binary.versions.v8);
  json.key("known").boolean(binary.known_version);
  json.key("facts").begin_array();
  for (const v8::NamedFact& fact : binary.facts) {
    json.line().begin_object();
    json.key("name").string(fact.name);
    json.key("value");
    fact.fact.known() ? json.integer(fact.fact.value) : json.null();
    json.key("origin").string(to_string(fact.fact.origin));
    json.end_object();
  }
  json.end_array().end_object();
}

void write_walker(json::Writer& json, const Report& report) {
  const WalkerCounts& counts = *report.counts;
  json.begin_object();
  json.key("pid").integer(*report.pid);
  json.key("stops").count(counts.stops);
  json.key("longest_stop_ms").decimal(static_cast<std::int64_t>(counts.longest_stop_ns / 1000), 3);
  json.key("stacks").count(counts.stacks);
  json.key("incomplete").count(counts.incomplete);
  json.key("js_frames").count(counts.js);
  json.key("unknown_js_frames").count(counts.unknown);
  json.key("frames_without_line").count(counts.without_line);
  json.key("frames_not_sure").count(counts.unsure);
  json.key("inlined_frames").count(counts.inlined);
  for (const auto& [key, part] : {std::pair{"names", &report.verdict.names},
                                  {"lines", &report.verdict.lines},
                                  {"inlined", &report.verdict.inlined}}) {
    json.line().key(key).begin_object();
    json.key("verdict").string(to_string(part->trust));
    json.key("why").string(part->why);
    json.end_object();
  }
  json.end_object();
}

Result<void> write_json(const Report& report, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("machine").begin_object();
  write_machine(json, report.machine);
  json.end_object();
  json.line().key("checks").begin_array();
  for (const Check& check : report.checks) {
    json.line().begin_object();
    json.key("what").string(check.what);
    json.key("verdict").string(to_string(check.verdict));
    json.key("why").string(check.why);
    json.key("remedy");
    check.remedy.empty() ? json.null() : json.string(check.remedy);
    json.end_object();
  }
  json.end_array();
  json.line().key("inspectors_left_open").begin_array();
  for (const OpenedInspector& opened : report.left_open) json.integer(opened.pid);
  json.end_array();
  json.line().key("binary");
  report.binary ? write_binary(json, *report.binary) : static_cast<void>(json.null());
  json.line().key("self_test");
  report.counts ? write_walker(json, report) : static_cast<void>(json.null());
  json.line().key("error");
  report.failure ? json.string(report.failure->message) : json.null();
  json.line().key("diagnostics");
  write_diagnostics(json, report.diagnostics);
  json.end_object();
  return json.finish();
}

Result<void> close_inspectors() {
  Result<void> result;
  for (const OpenedInspector& opened : find_left_open()) {
    auto closed = close_left_open(opened);
    if (closed) fmt::print("the inspector of process {} is closed\n", opened.pid);
    if (!closed) result = std::move(closed);
  }
  return result;
}

// What could be found out is told, also when the target cannot be read.
Result<void> run_doctor(const Options& options) {
  if (options.close_inspectors) return close_inspectors();
  Report report;
  report.left_open = find_left_open();
  report.machine = read_machine_facts();
  // Most of what root may do is of no use for what follows.
  keep_capabilities({Capability::kDacReadSearch, Capability::kSysPtrace, Capability::kSysAdmin,
                     Capability::kSyslog, Capability::kPerfmon});
  report.checks = derive_checks(report.machine);
  if (auto examined = examine_target(options, report); !examined) report.failure = examined.error();
  keep_capabilities({});
  auto written = write_output("-", [&](ByteSink& sink) {
    return options.json ? write_json(report, sink) : sink.write(report_text(report));
  });
  if (!written) return written;
  if (report.failure) return std::unexpected(*report.failure);
  return {};
}

}  // namespace

void add_doctor_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "doctor", "Tell what this machine, this user and a Node.js process or binary allow.");
  command->group("Live");
  add_target_options(*command, options->target, HowMany::kOne);
  command->add_flag("--json", options->json, "For programs");
  command->add_flag("--close-inspectors", options->close_inspectors,
                    "Close the inspectors that recordings have opened which were killed before they could");
  command->footer(
      "Without a target: the machine and the user, with the remedy for each \"no\".\n"
      "With the path of a node binary: also every fact about its V8 and where it comes from.\n"
      "With a process: also a test of the stack walker, which stops the process twenty times for some\n"
      "milliseconds, and which parts of a frame to trust.\n\n"
      "Examples\n"
      "  nodescope doctor\n"
      "  nodescope doctor server.js\n"
      "  nodescope doctor /usr/bin/node");
  command->callback([options, &run] { run = [options] { return run_doctor(*options); }; });
}

}  // namespace nodescope
