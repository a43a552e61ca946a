#include "app/awaits_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/function_report.h"
#include "base/text.h"
#include "json/writer.h"

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

// What all the files of the user's functions begin with, up to a slash.
std::string common_folder(const AwaitsReport& report) {
  std::optional<std::string> common;
  for (const WaitingPlace& place : report.places) {
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

std::string chain_text(const AwaitsReport& report, const v8::AwaitChains::Chain& chain,
                       std::string_view folder) {
  std::string text;
  for (const std::uint32_t place : chain.places)
    text += (text.empty() ? "" : " ← ") + place_text(report.places[place], folder);
  if (!chain.request.empty()) text += fmt::format("  [{}]", printable(chain.request));
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

Result<v8::AsyncLayout> require_async_layout(const ElfFile& binary, const v8::Layout& layout) {
  const v8::AsyncLayout async = v8::AsyncLayout::build(binary, layout);
  if (!async.tells_promises())
    return fail(ErrorCode::kUnsupported, "the promises of V8 " + layout.versions.v8 + " are not known");
  return async;
}

void AwaitsReport::add(v8::Heap& heap, const v8::AsyncLayout& layout, const v8::AsyncObjects& objects,
                       v8::RequestIds* requests) {
  if (!layout.builtin_all_element.known())
    diagnostics.warn("chains end at Promise.all and the like: the binary does not tell V8's builtins");
  v8::Scripts scripts;
  const v8::CodeSpace space;
  v8::AsyncReader reader(heap, layout, space, scripts);
  chains = v8::derive_await_chains(reader, objects, requests);
  for (const v8::AsyncCaller& caller : chains.places) places.push_back(describe(scripts, caller));
  if (chains.unreadable != 0)
    diagnostics.warn("async functions could not be read",
                     fmt::format("{} places", with_thousands(chains.unreadable)));
  if (chains.has_more) diagnostics.warn("there are more chains than could be counted");
}

std::string awaits_text(const AwaitsReport& report, std::size_t top) {
  const v8::AwaitChains& chains = report.chains;
  const std::string folder = common_folder(report);
  std::string text = fmt::format("{}, Node.js {}, V8 {}", printable(report.process), report.versions.node,
                                 report.versions.v8);
  if (report.stopped_ns) text += fmt::format("; stopped for {}", human_duration_ns(*report.stopped_ns));
  text += "\n";
  text +=
      fmt::format("{} in {}", count_text(chains.suspended, "async function waits", "async functions wait"),
                  count_text(chains.chains.size(), "kind of chain", "kinds of chain"));
  if (!folder.empty()) text += fmt::format("; files are in {}", printable(folder));
  text += "\n\n";
  const std::size_t shown = top == 0 ? chains.chains.size() : std::min(top, chains.chains.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{:>9}  {}\n", with_thousands(chains.chains[i].count),
                        chain_text(report, chains.chains[i], folder));
  }
  if (shown < chains.chains.size())
    text += fmt::format("{:>9}  {}\n", "…",
                        count_text(chains.chains.size() - shown, "more", "more (--top 0 shows all)"));
  if (chains.ready != 0)
    text += fmt::format("\n{} is over: they go on soon\n", count_text(chains.ready, "wait", "waits"));
  if (chains.resting != 0)
    text += fmt::format("\n{} at a yield: nobody has asked for the next value\n",
                        count_text(chains.resting, "async generator rests", "async generators rest"));
  for (const Diagnostic& entry : report.diagnostics.entries()) {
    text += fmt::format("\n{}: {}{}{}\n", with_thousands(entry.count), printable(entry.what),
                        entry.example.empty() ? "" : ": ", printable(entry.example));
  }
  return text;
}

Result<void> write_awaits_json(const AwaitsReport& report, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  if (report.pid) json.key("pid").integer(*report.pid);
  json.key("node").string(report.versions.node);
  json.key("v8").string(report.versions.v8);
  if (report.stopped_ns)
    json.key("stopped_ms").decimal(static_cast<std::int64_t>(*report.stopped_ns / 1000), 3);
  json.key("suspended").count(report.chains.suspended);
  json.key("ready").count(report.chains.ready);
  json.key("resting").count(report.chains.resting);
  json.key("chains").begin_array();
  for (const v8::AwaitChains::Chain& chain : report.chains.chains) {
    json.line().begin_object();
    json.key("count").count(chain.count);
    if (!chain.request.empty()) json.key("request").string(chain.request);
    if (chain.is_circle) json.key("circle").boolean(true);
    json.key("chain").begin_array();
    for (const std::uint32_t place : chain.places) write_place(json, report.places[place]);
    json.end_array().end_object();
  }
  json.end_array();
  json.line().key("diagnostics");
  write_diagnostics(json, report.diagnostics);
  json.end_object();
  return json.finish();
}

}  // namespace nodescope
