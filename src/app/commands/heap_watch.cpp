#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "app/commands/heap_live.h"
#include "app/output.h"
#include "app/selection_options.h"
#include "app/target_options.h"
#include "base/text.h"
#include "capture/memory_split.h"
#include "json/writer.h"
#include "os/interrupt.h"

namespace nodescope {

namespace {

using Clock = std::chrono::system_clock;

struct Options {
  TargetOptions target;
  std::string every = "2s";
  unsigned count = 0;  // 0: until the user or the process ends it
  bool json = false;
};

constexpr std::array<std::string_view, kMemoryUses> kWords = {
    "new objects of the JavaScript heap",
    "old objects of the JavaScript heap",
    "large objects of the JavaScript heap",
    "generated code",
    "V8's read-only objects",
    "malloc: C++ of Node, libraries and addons",
    "large blocks outside of the heap: buffers, WebAssembly",
    "stacks",
    "the program and other files"};

std::string header() {
  return fmt::format("{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "after", "RSS", "young",
                     "old", "large", "code", "malloc", "blocks", "stacks", "files");
}

std::string row(const MemorySplit& split, std::uint64_t after_ns) {
  const auto part = [&](MemoryUse use) { return human_bytes(split[use]); };
  return fmt::format(
      "{:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", human_duration_ns(after_ns),
      human_bytes(split.rss_bytes), part(MemoryUse::kYoung), part(MemoryUse::kOld), part(MemoryUse::kLarge),
      human_bytes(split[MemoryUse::kCode] + split[MemoryUse::kReadOnly]), part(MemoryUse::kMalloc),
      part(MemoryUse::kBlocks), part(MemoryUse::kStacks), part(MemoryUse::kProgram));
}

std::int64_t growth(std::uint64_t before, std::uint64_t after) {
  return static_cast<std::int64_t>(after - before);
}

std::string signed_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + human_bytes(static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes));
}

// What grew the most since the first row.
std::string sentence(const MemorySplit& first, const MemorySplit& last, std::uint64_t after_ns) {
  std::size_t most = 0;
  for (std::size_t i = 1; i < kMemoryUses; ++i) {
    if (growth(first.bytes[i], last.bytes[i]) > growth(first.bytes[most], last.bytes[most])) most = i;
  }
  std::string text = fmt::format(
      "RSS {} in {}, the JavaScript heap {}", signed_bytes(growth(first.rss_bytes, last.rss_bytes)),
      human_duration_ns(after_ns), signed_bytes(growth(first.heap_bytes(), last.heap_bytes())));
  const std::int64_t grown = growth(first.bytes[most], last.bytes[most]);
  if (grown > 0) text += fmt::format("; the most by {}: {}", signed_bytes(grown), kWords[most]);
  return text + "\n";
}

Result<void> write_json(const MemorySplit& split, Clock::time_point time, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("time").decimal(
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count(), 3);
  json.key("rss_bytes").count(split.rss_bytes);
  json.key("heap").begin_object();
  for (std::size_t i = 0; i <= static_cast<std::size_t>(MemoryUse::kReadOnly); ++i)
    json.key(kMemoryUseNames[i]).count(split.bytes[i]);
  json.end_object();
  json.key("malloc_bytes").count(split[MemoryUse::kMalloc]);
  json.key("blocks_bytes").count(split[MemoryUse::kBlocks]);
  json.key("stacks_bytes").count(split[MemoryUse::kStacks]);
  json.key("files_bytes").count(split[MemoryUse::kProgram]);
  json.end_object();
  return json.finish();
}

Result<void> run_watch(const Options& options) {
  const auto every_ns = parse_duration_ns(options.every);
  constexpr std::int64_t kShortestNs = 100'000'000;
  constexpr std::int64_t kLongestNs = std::int64_t{86'400} * 1'000'000'000;
  if (!every_ns || *every_ns < kShortestNs || *every_ns > kLongestNs)
    return fail(ErrorCode::kUsage, options.every + ": not a time such as 2s, 500ms or 1m");
  const auto pid = select_one_target(options.target.spec());
  if (!pid) return std::unexpected(pid.error());
  auto watch = MemoryWatch::open(*pid);
  if (!watch) return std::unexpected(watch.error());
  constexpr unsigned kRowsPerHeader = 20;
  const InterruptRequest interrupt;
  const auto begin = std::chrono::steady_clock::now();
  MemorySplit first;
  MemorySplit last;
  std::uint64_t last_ns = 0;
  unsigned shown = 0;
  while (!interrupt.requested()) {
    const auto split = watch->read();
    if (!split && shown == 0) return std::unexpected(split.error());
    if (!split) break;  // it has ended
    last = *split;
    last_ns = static_cast<std::uint64_t>((std::chrono::steady_clock::now() - begin).count());
    if (shown == 0) first = last;
    const auto done = write_output("-", [&](ByteSink& sink) -> Result<void> {
      if (options.json) return write_json(last, Clock::now(), sink);
      return sink.write((shown % kRowsPerHeader == 0 ? header() : std::string()) + row(last, last_ns));
    });
    if (!done) return done;
    if (++shown == options.count) break;
    interrupt.sleep_ms(static_cast<int>(*every_ns / 1'000'000));
  }
  if (options.json || shown < 2) return {};
  return write_output("-", [&](ByteSink& sink) { return sink.write(sentence(first, last, last_ns)); });
}

}  // namespace

void add_heap_watch_command(CLI::App& heap, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = heap.add_subcommand(
      "watch", "Show what the memory of a running Node.js process is used for, over time.");
  command->group("Live");
  add_target_options(*command, options->target, HowMany::kOne);
  command->add_option("--every", options->every, "How often (2s)")->type_name("TIME");
  command
      ->add_option("--count", options->count,
                   "How many rows; without it until Ctrl-C or the end of the process")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command->add_flag("--json", options->json, "For programs: one line each time");
  command->footer(
      "The process is not stopped.  malloc is memory of C++, blocks are large pieces outside of the "
      "JavaScript "
      "heap: where RSS grows and the heap does not, these say which.\n\n"
      "Examples\n"
      "  nodescope heap watch 4711\n"
      "  nodescope heap watch server.js --every 10s --json");
  command->callback([options, &run] { run = [options] { return run_watch(*options); }; });
}

}  // namespace nodescope
