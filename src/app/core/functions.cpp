#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "app/core/heap_commands.h"
#include "app/core/walked_heap.h"
#include "base/text.h"
#include "json/writer.h"
#include "v8/objects.h"
#include "v8/scripts.h"
#include "v8/strings.h"

namespace nodescope {

namespace {

constexpr std::size_t kRows = 40;  // unless all are asked for
constexpr std::int32_t kMaxSourceUnits = 1 << 20;

using IsolateObjects = WalkedHeap::IsolateObjects;

struct FunctionRow {
  std::string name;
  std::string place;
  std::uint64_t closures = 0;
};

std::string place_of(v8::Heap& heap, v8::Scripts& scripts, const v8::SharedFunctionInfo& shared) {
  const auto script = shared.script() ? scripts.load(heap, *shared.script()) : std::nullopt;
  if (!script) return {};
  const auto place = scripts.place(*script, shared.start());
  return place ? fmt::format("{}:{}:{}", scripts.name(*script), place->line, place->column)
               : scripts.name(*script);
}

// By how many closures they have.
std::vector<FunctionRow> functions_of(WalkedHeap& walked, IsolateObjects& isolate) {
  v8::Heap& heap = walked.heap();
  FlatMap<std::uint64_t, std::uint64_t> closures;  // by the part that they share
  isolate.objects.for_each([&](std::uint32_t, const v8::HeapObject& object) {
    if (!heap.layout().is_function(object.shape->type)) return;
    if (const auto shared = v8::shared_of_function(heap, {object.tagged()})) ++closures[shared->value];
  });
  v8::Scripts scripts;
  std::vector<FunctionRow> rows;
  for (const auto& [word, count] : closures) {
    const auto shared = v8::SharedFunctionInfo::load(heap, {word});
    if (!shared) continue;
    const std::string& name = shared->name().empty() ? shared->inferred_name() : shared->name();
    rows.push_back({name, place_of(heap, scripts, *shared), count});
  }
  std::ranges::sort(rows, [](const FunctionRow& one, const FunctionRow& other) {
    return std::tie(other.closures, one.place, one.name) < std::tie(one.closures, other.place, other.name);
  });
  return rows;
}

}  // namespace

Result<void> write_functions(CoreSession& session, const std::string& name, const HeapCommandOptions& options,
                             ByteSink& sink) {
  const auto heap = session.heap();
  if (!heap) return std::unexpected(heap.error());
  std::string text;
  json::Writer json(sink);
  if (options.json) json.begin_object().key("isolates").begin_array();
  for (IsolateObjects& isolate : (*heap)->isolates()) {
    std::vector<FunctionRow> rows = functions_of(**heap, isolate);
    if (!name.empty()) std::erase_if(rows, [&](const FunctionRow& row) { return !row.name.contains(name); });
    if (!options.json) {
      text += fmt::format("Thread {}: {} functions\n{:>12}\n", isolate.isolate.tid,
                          with_thousands(rows.size()), "closures");
      const std::size_t shown = options.all ? rows.size() : std::min(rows.size(), kRows);
      for (std::size_t i = 0; i < shown; ++i)
        text += fmt::format("{:>12}  {}  {}\n", with_thousands(rows[i].closures),
                            rows[i].name.empty() ? "(anonymous)" : printable(rows[i].name),
                            printable(rows[i].place));
      if (shown < rows.size()) text += fmt::format("… {} more (--all)\n", rows.size() - shown);
      continue;
    }
    json.line().begin_object().key("thread").integer(isolate.isolate.tid).key("functions").begin_array();
    for (const FunctionRow& row : rows) {
      json.line().begin_object().key("name").string(row.name).key("place").string(row.place);
      json.key("closures").count(row.closures).end_object();
    }
    json.end_array().end_object();
  }
  session.release();
  if (!options.json) return sink.write(text);
  json.end_array().end_object();
  return json.finish();
}

Result<void> write_source(CoreSession& session, const std::string& function,
                          const HeapCommandOptions& options, ByteSink& sink) {
  const auto heap = session.heap();
  if (!heap) return std::unexpected(heap.error());
  v8::Heap& memory = (*heap)->heap();
  v8::Scripts scripts;
  std::string text;
  json::Writer json(sink);
  if (options.json) json.begin_object().key("functions").begin_array();
  std::size_t count = 0;
  for (IsolateObjects& isolate : (*heap)->isolates()) {
    isolate.objects.for_each([&](std::uint32_t, const v8::HeapObject& object) {
      if (!memory.layout().type_shared.is(object.shape->type)) return;
      const auto shared = v8::SharedFunctionInfo::load(memory, {object.tagged()});
      const bool is_meant = shared && (shared->name() == function || shared->inferred_name() == function);
      if (!is_meant || !shared->script() || shared->end() <= shared->start() ||
          shared->end() > kMaxSourceUnits)
        return;
      const auto script = scripts.load(memory, *shared->script());
      const auto source = memory.field(*shared->script(), memory.layout().script_source);
      const auto whole =
          source ? v8::load_string_prefix(memory, *source, static_cast<std::size_t>(shared->end()))
                 : std::nullopt;
      if (!script || !whole) return;
      std::u16string units;
      for (auto i = static_cast<std::size_t>(shared->start()); i < whole->size(); ++i) units += (*whole)[i];
      v8::FlatString part;
      part.append_utf16(units);
      const std::string where = place_of(memory, scripts, *shared);
      ++count;
      if (options.json) {
        json.line()
            .begin_object()
            .key("place")
            .string(where)
            .key("source")
            .string(part.to_utf8())
            .end_object();
        return;
      }
      text += (text.empty() ? "" : "\n") + printable(where) + "\n" + printable(function);
      const std::string utf8 = part.to_utf8();
      std::string_view rest = utf8;
      for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
        text += printable(rest.substr(0, end)) + "\n";
        rest.remove_prefix(end + 1);
      }
      text += printable(rest) + "\n";
    });
  }
  session.release();
  if (options.json) {
    json.end_array().end_object();
    return json.finish();
  }
  if (count == 0)
    return fail(ErrorCode::kNotFound, fmt::format("no function called \"{}\" has a source", function));
  return sink.write(text);
}

}  // namespace nodescope
