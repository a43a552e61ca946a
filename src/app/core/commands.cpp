#include "app/core/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/core/awaits.h"
#include "app/core/handles.h"
#include "app/core/heap_commands.h"
#include "app/core/info.h"
#include "app/core/snapshot.h"
#include "app/core/value_text.h"
#include "app/live_source_maps.h"
#include "app/nearest_word.h"
#include "app/output.h"
#include "app/stack_dump.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::size_t kEverything = 1 << 20;
constexpr std::size_t kMaxJsonUnits = 100'000;
constexpr std::size_t kWholeString = std::size_t{1} << 26;

using Arguments = std::span<const std::string>;

// Keeps a running process stopped for one command.
class Hold {
 public:
  explicit Hold(CoreSession& session) : session_(session), held_(session.hold()) {}
  ~Hold() { session_.release(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  const Result<void>& result() const { return held_; }

 private:
  CoreSession& session_;
  Result<void> held_;
};

Result<Address> parse_address(const std::string& text) {
  std::string_view digits = text;
  if (digits.starts_with("@")) digits.remove_prefix(1);
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  const auto value = parse_hex(digits);
  if (!value) return fail(ErrorCode::kUsage, fmt::format("\"{}\" is not an address, such as 0x1a2b3c", text));
  return Address{*value};
}

Result<void> run_info(CoreSession& session, Arguments, const CoreCommandOptions& options, ByteSink& sink) {
  return write_core_info(session, options.json, sink);
}

Result<void> run_env(CoreSession& session, Arguments, const CoreCommandOptions& options, ByteSink& sink) {
  return write_core_environment(session, options.json, sink);
}

Result<void> run_stacks(CoreSession& session, Arguments arguments, const CoreCommandOptions& options,
                        ByteSink& sink) {
  StackDumpOptions dump{.json = options.json, .dump = {.arguments = true, .addresses = true}};
  if (session.core() != nullptr) dump.title = "Core of process";
  if (!arguments.empty()) {
    const auto thread = parse_number<pid_t>(arguments[0]);
    if (!thread)
      return fail(ErrorCode::kUsage, fmt::format("\"{}\" is not the number of a thread", arguments[0]));
    dump.dump.thread = *thread;
  }
  LiveSourceMaps maps(options.maps);
  if (session.core() == nullptr) maps.remember({session.view().process().pid()});
  // The files of a process that has ended are those of this disk, as long as its places fit them.
  dump.lead_to_sources = [&](Profile& profile) {
    return session.core() == nullptr ? maps.apply(profile) : map_to_sources(profile, options.maps);
  };
  return write_stack_dump(session.view(), dump, session.diagnostics(), sink);
}

// Addresses may carry the tag of a reference, as V8 keeps them.
Result<void> run_print(CoreSession& session, Arguments arguments, const CoreCommandOptions& options,
                       ByteSink& sink) {
  const auto address = parse_address(arguments[0]);
  if (!address) return std::unexpected(address.error());
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  const v8::TaggedWord word{(address->value & ~std::uint64_t{7}) + 1};
  if (session.view().heap().type(word) < 0)
    return fail(ErrorCode::kNotFound, fmt::format("no object of JavaScript is at {}", arguments[0]));
  v8::DecodeLimits limits{.depth = options.depth};
  if (options.json) limits.string_units = kMaxJsonUnits;
  if (options.all) limits = {options.depth, kEverything, kEverything, kEverything, kEverything};
  // What is asked for itself is shown whole.
  if (session.view().heap().is_string(word)) limits.string_units = kWholeString;
  const v8::DecodedValue value = session.decoder().decode(word, limits);
  if (!options.json) return sink.write(value_text(value));
  json::Writer json(sink);
  write_value(json, value);
  return json.finish();
}

HeapCommandOptions heap_options(const CoreCommandOptions& options) {
  return {options.json, options.all, options.shapes};
}

Result<void> run_objects(CoreSession& session, Arguments arguments, const CoreCommandOptions& options,
                         ByteSink& sink) {
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  return write_objects(session, arguments.empty() ? "" : arguments[0], heap_options(options), sink);
}

Result<void> run_references(CoreSession& session, Arguments arguments, const CoreCommandOptions& options,
                            ByteSink& sink) {
  const auto address = parse_address(arguments[0]);
  if (!address) return std::unexpected(address.error());
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  return write_references(session, *address, heap_options(options), sink);
}

Result<void> run_strings(CoreSession& session, Arguments arguments, const CoreCommandOptions& options,
                         ByteSink& sink) {
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  return write_strings(session, arguments[0], heap_options(options), sink);
}

Result<void> run_functions(CoreSession& session, Arguments arguments, const CoreCommandOptions& options,
                           ByteSink& sink) {
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  return write_functions(session, arguments.empty() ? "" : arguments[0], heap_options(options), sink);
}

Result<void> run_source(CoreSession& session, Arguments arguments, const CoreCommandOptions& options,
                        ByteSink& sink) {
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  return write_source(session, arguments[0], heap_options(options), sink);
}

Result<void> run_snapshot(CoreSession& session, Arguments, const CoreCommandOptions& options,
                          ByteSink& sink) {
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  return write_core_snapshot(session, {options.output, options.redact, options.json}, sink);
}

Result<void> run_awaits(CoreSession& session, Arguments, const CoreCommandOptions& options, ByteSink& sink) {
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  return write_core_awaits(session, options.json, options.all, sink);
}

Result<void> run_handles(CoreSession& session, Arguments, const CoreCommandOptions& options, ByteSink& sink) {
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  return write_handles(session, options.json, sink);
}

Result<void> run_requests(CoreSession& session, Arguments, const CoreCommandOptions& options,
                          ByteSink& sink) {
  const Hold hold(session);
  if (!hold.result()) return hold.result();
  return write_requests(session, options.json, sink);
}

constexpr CoreCommand kCommands[] = {
    {"info", "", "", "why it ended, what it was, how much of it the file has", run_info, false, false},
    {"bt", "jsstack", "[THREAD]", "the stacks of all threads, with receivers and arguments", run_stacks},
    {"print", "inspect jsprint nodebuffer jsconstructor", "ADDRESS", "an object and what it holds",
     run_print},
    {"objects", "findjsobjects findjsinstances", "[CLASS]",
     "the objects by class, live and garbage; with a class its instances", run_objects},
    {"refs", "findrefs", "ADDRESS", "what refers to an object, and a way from a root to it", run_references},
    {"strings", "", "PATTERN", "strings in which a regular expression is found", run_strings},
    {"functions", "jsfunctions", "[NAME]", "functions by the number of their closures", run_functions},
    {"source", "jssource list", "FUNCTION", "the text of functions of this name", run_source},
    {"awaits", "", "", "what its async functions waited for, and who waited for them", run_awaits},
    {"handles", "getactivehandles", "", "sockets, timers and files of its event loops, and whose they were",
     run_handles},
    {"requests", "getactiverequests", "", "what was asked of the system and not answered yet", run_requests},
    {"snapshot", "", "", "its heap as a .heapsnapshot, into the file that -o names", run_snapshot, true},
    {"env", "", "", "the environment that it was started with", run_env, false, false},
};

bool is_called(const CoreCommand& command, std::string_view word) {
  if (command.name == word) return true;
  std::string_view rest = command.aliases;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == word) return true;
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return false;
}

std::unexpected<Error> unknown(std::string_view word) {
  std::vector<std::string> names;
  for (const CoreCommand& command : kCommands) names.emplace_back(command.name);
  const std::string nearest = nearest_word(word, names);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return fail(ErrorCode::kUsage,
              fmt::format("\"{}\" is no command of core; {}", word,
                          nearest.empty() ? "there are " + list : "did you mean \"" + nearest + "\"?"));
}

}  // namespace

std::span<const CoreCommand> core_commands() {
  return kCommands;
}

const CoreCommand* find_core_command(std::string_view word) {
  const auto command = std::ranges::find_if(
      kCommands, [&](const CoreCommand& candidate) { return is_called(candidate, word); });
  return command == std::end(kCommands) ? nullptr : command;
}

Result<void> run_core_command(CoreSession& session, std::span<const std::string> words,
                              const CoreCommandOptions& options) {
  const CoreCommand* const command = find_core_command(words[0]);
  if (command == nullptr) return unknown(words[0]);
  const Arguments arguments = words.subspan(1);
  const bool needs_one = !command->argument.empty() && !command->argument.starts_with('[');
  if (needs_one && arguments.empty())
    return fail(ErrorCode::kUsage,
                fmt::format("{} takes an argument: {} {}", words[0], words[0], command->argument));
  const std::size_t most = command->argument.empty() ? 0 : 1;
  if (arguments.size() > most)
    return fail(ErrorCode::kUsage, fmt::format("{} does not take \"{}\"", words[0], arguments[most]));
  if (command->needs_v8 && session.without_v8()) return fail(*session.without_v8(), session.name());
  const std::string output = options.output.empty() || command->makes_file ? "-" : options.output;
  // A core has all that was in memory: passwords and the data of users.
  return write_output(
      output, [&](ByteSink& sink) { return command->run(session, arguments, options, sink); },
      Readers::kOwner);
}

}  // namespace nodescope
