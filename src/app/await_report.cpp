#include "app/await_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "app/function_report.h"
#include "base/text.h"
#include "json/writer.h"
#include "v8/async_reader.h"
#include "v8/code_space.h"

namespace nodescope {

namespace {

WaitingPlace describe(v8::Scripts& scripts, const v8::AsyncCaller& caller) {
  WaitingPlace place;
  place.is_combinator = caller.combinator != v8::Combinator::kNone;
  place.index = caller.index;
  place.function = caller.frame.function.empty() ? "(anonymous)" : caller.frame.function;
  if (!caller.frame.script) return place;
  place.file = scripts.name(*caller.frame.script);
  place.place = scripts.place(*caller.frame.script, caller.frame.offset).value_or(v8::LineColumn());
  return place;
}

void note_what_is_missing(Awaits& awaits) {
  const v8::AwaitChains& chains = awaits.chains;
  if (chains.unreadable != 0)
    awaits.diagnostics.warn("async functions could not be read",
                            fmt::format("{} places", with_thousands(chains.unreadable)));
  if (chains.has_more) awaits.diagnostics.warn("there are more chains than could be counted");
}

// What all the files of the user's functions begin with, up to a slash.
std::string common_folder(const Awaits& awaits) {
  std::optional<std::string> common;
  for (const WaitingPlace& place : awaits.places) {
    if (place.file.empty() || place.file.starts_with("node:")) continue;
    if (!common) common = place.file;
    const auto [end, unused] = std::ranges::mismatch(*common, place.file);
    common->erase(end, common->end());
  }
  if (!common) return {};
  const std::size_t slash = common->rfind('/');
  return slash == std::string::npos ? std::string() : common->substr(0, slash + 1);
}

std::string place_text(const WaitingPlace& place, std::string_view folder) {
  if (place.is_combinator)
    return place.index < 0 ? place.function : fmt::format("{} index {}", place.function, place.index);
  std::string_view file = place.file;
  if (file.starts_with(folder)) file.remove_prefix(folder.size());
  if (place.file.empty()) return printable(place.function);
  return fmt::format("{} ({}:{})", printable(place.function), printable(file),
                     place.place.line == 0 ? std::string("?") : std::to_string(place.place.line));
}

std::string chain_text(const Awaits& awaits, const v8::AwaitChains::Chain& chain, std::string_view folder) {
  std::string text;
  for (const std::uint32_t place : chain.places)
    text += (text.empty() ? "" : " ← ") + place_text(awaits.places[place], folder);
  if (chain.is_circle) text += " ← … (they wait for each other)";
  return text;
}

std::string count_text(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", with_thousands(count), count == 1 ? one : many);
}

void write_place(json::Writer& json, const WaitingPlace& place) {
  const auto number = [&](std::string_view key, std::uint32_t value) {
    json.key(key);
    value == 0 ? json.null() : json.count(value);
  };
  json.begin_object();
  if (place.is_combinator) {
    json.key("combinator").string(place.function);
    json.key("index");
    place.index < 0 ? json.null() : json.count(static_cast<std::uint64_t>(place.index));
  } else {
    json.key("function").string(place.function);
    json.key("file");
    place.file.empty() ? json.null() : json.string(place.file);
    number("line", place.place.line);
    number("column", place.place.column);
  }
  json.end_object();
}

}  // namespace

void derive_awaits(v8::Heap& heap, const v8::AsyncLayout& layout, const v8::AsyncObjects& objects,
                   Awaits& awaits) {
  v8::Scripts scripts;
  const v8::CodeSpace space;
  v8::AsyncReader reader(heap, layout, space, scripts);
  awaits.chains = v8::derive_await_chains(reader, objects);
  for (const v8::AsyncCaller& caller : awaits.chains.places)
    awaits.places.push_back(describe(scripts, caller));
  note_what_is_missing(awaits);
}

std::string awaits_text(const Awaits& awaits, std::size_t top) {
  const v8::AwaitChains& chains = awaits.chains;
  const std::string folder = common_folder(awaits);
  std::string text = fmt::format("{} {}, Node.js {}, V8 {}", awaits.title, awaits.pid, awaits.versions.node,
                                 awaits.versions.v8);
  if (awaits.stopped_ns != 0) text += "; stopped for " + human_duration_ns(awaits.stopped_ns);
  text += "\n";
  text +=
      fmt::format("{} in {}", count_text(chains.suspended, "async function waits", "async functions wait"),
                  count_text(chains.chains.size(), "kind of chain", "kinds of chain"));
  if (!folder.empty()) text += fmt::format("; files are in {}", printable(folder));
  text += "\n\n";
  const std::size_t shown = top == 0 ? chains.chains.size() : std::min(top, chains.chains.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{:>9}  {}\n", with_thousands(chains.chains[i].count),
                        chain_text(awaits, chains.chains[i], folder));
  }
  if (shown < chains.chains.size())
    text += fmt::format("{:>9}  {}\n", "…",
                        count_text(chains.chains.size() - shown, "more", "more (--top 0 shows all)"));
  if (chains.ready != 0)
    text += fmt::format("\n{} is over: they go on soon\n", count_text(chains.ready, "wait", "waits"));
  if (chains.resting != 0)
    text += fmt::format("\n{} at a yield: nobody has asked for the next value\n",
                        count_text(chains.resting, "async generator rests", "async generators rest"));
  for (const Diagnostic& entry : awaits.diagnostics.entries()) {
    text += fmt::format("\n{}: {}{}{}\n", with_thousands(entry.count), printable(entry.what),
                        entry.example.empty() ? "" : ": ", printable(entry.example));
  }
  return text;
}

Result<void> write_awaits(const Awaits& awaits, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("pid").integer(awaits.pid);
  json.key("node").string(awaits.versions.node);
  json.key("v8").string(awaits.versions.v8);
  json.key("stopped_ms").decimal(static_cast<std::int64_t>(awaits.stopped_ns / 1000), 3);
  json.key("suspended").count(awaits.chains.suspended);
  json.key("ready").count(awaits.chains.ready);
  json.key("resting").count(awaits.chains.resting);
  json.key("chains").begin_array();
  for (const v8::AwaitChains::Chain& chain : awaits.chains.chains) {
    json.line().begin_object();
    json.key("count").count(chain.count);
    if (chain.is_circle) json.key("circle").boolean(true);
    json.key("chain").begin_array();
    for (const std::uint32_t place : chain.places) write_place(json, awaits.places[place]);
    json.end_array().end_object();
  }
  json.end_array();
  json.line().key("diagnostics");
  write_diagnostics(json, awaits.diagnostics);
  json.end_object();
  return json.finish();
}

}  // namespace nodescope
