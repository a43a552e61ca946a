#include "app/core/heap_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "app/core/class_rows.h"
#include "app/core/walked_heap.h"
#include "base/pattern.h"
#include "base/text.h"
#include "json/writer.h"
#include "v8/strings.h"

namespace nodescope {

namespace {

constexpr std::size_t kRows = 40;            // of a table, unless all are asked for
constexpr std::size_t kOtherRows = 12;       // the same of what is no object of JavaScript
constexpr std::size_t kShownProperties = 6;  // in a row
constexpr std::size_t kMaxStringUnits = 4096;
constexpr std::size_t kShownStringBytes = 200;  // in a row, unless all is asked for

struct Instance {
  std::uint64_t address = 0;
  std::uint64_t shallow_bytes = 0;
  bool is_live = true;
};

using IsolateObjects = WalkedHeap::IsolateObjects;

std::string isolate_title(const IsolateObjects& isolate) {
  return isolate.isolate.tid == 0 ? std::string("Heap of a thread that was not found\n")
                                  : fmt::format("Heap of thread {}\n", isolate.isolate.tid);
}

std::string properties_text(const std::vector<std::string>& properties) {
  std::string text;
  for (std::size_t i = 0; i < std::min(properties.size(), kShownProperties); ++i)
    text += (i == 0 ? "" : ", ") + printable(properties[i]);
  if (properties.size() > kShownProperties) text += ", …";
  return text.empty() ? text : "  {" + text + "}";
}

std::string classes_text(std::span<const ClassRow> rows, std::string_view title, std::size_t most) {
  std::string text = fmt::format("{:>14}{:>12}  {}\n", "count", "bytes", title);
  for (const ClassRow& row : rows.first(std::min(rows.size(), most)))
    text +=
        fmt::format("{:>14}{:>12}  {}{}{}\n", with_thousands(row.count), human_bytes(row.shallow_bytes),
                    printable(row.name), row.is_live ? "" : "  [garbage]", properties_text(row.properties));
  if (most < rows.size()) text += fmt::format("… {} more (--all)\n", with_thousands(rows.size() - most));
  return text;
}

std::string classes_text(const std::vector<ClassRow>& rows, bool all) {
  const auto first_internal = std::ranges::find(rows, false, &ClassRow::is_receiver) - rows.begin();
  const std::span<const ClassRow> span(rows);
  const auto receivers = span.first(static_cast<std::size_t>(first_internal));
  const auto others = span.subspan(static_cast<std::size_t>(first_internal));
  return classes_text(receivers, "class", all ? rows.size() : kRows) + "\n" +
         classes_text(others, "strings and what V8 keeps", all ? rows.size() : kOtherRows);
}

void write_thread(json::Writer& json, const IsolateObjects& isolate) {
  json.line().begin_object().key("thread");
  isolate.isolate.tid == 0 ? json.null() : json.integer(isolate.isolate.tid);
}

std::string address_text(std::uint64_t address) {
  return fmt::format("0x{:x}", address);
}

Result<void> write_classes(WalkedHeap& heap, const HeapCommandOptions& options, ByteSink& sink) {
  std::string text;
  json::Writer json(sink);
  if (options.json) json.begin_object().key("isolates").begin_array();
  for (IsolateObjects& isolate : heap.isolates()) {
    const std::vector<ClassRow> rows = derive_class_rows(heap, isolate, options.by_shape);
    if (!options.json) {
      text += (text.empty() ? "" : "\n") + isolate_title(isolate) + classes_text(rows, options.all);
      continue;
    }
    write_thread(json, isolate);
    json.key("objects").begin_array();
    for (const ClassRow& row : rows) {
      json.line().begin_object().key("name").string(row.name);
      json.key("count").count(row.count).key("shallow_bytes").count(row.shallow_bytes);
      json.key("live").boolean(row.is_live).key("properties").begin_array();
      for (const std::string& property : row.properties) json.string(property);
      json.end_array().end_object();
    }
    json.end_array().end_object();
  }
  if (!options.json) return sink.write(text);
  json.end_array().end_object();
  return json.finish();
}

std::vector<Instance> instances_of(WalkedHeap& heap, IsolateObjects& isolate, const std::string& name) {
  FlatMap<std::uint64_t, bool> by_map;
  std::vector<Instance> instances;
  for_each_object(isolate, [&](const v8::HeapObject& object, bool is_live) {
    auto known = by_map.find(object.shape->map);
    if (known == by_map.end())
      known = by_map.emplace(object.shape->map, class_of_object(heap, isolate, object) == name).first;
    if (known->second) instances.push_back({object.address, object.bytes.size(), is_live});
  });
  return instances;
}

Result<void> write_instances(WalkedHeap& heap, const std::string& name, const HeapCommandOptions& options,
                             ByteSink& sink) {
  std::string text;
  json::Writer json(sink);
  if (options.json) json.begin_object().key("isolates").begin_array();
  for (IsolateObjects& isolate : heap.isolates()) {
    const std::vector<Instance> instances = instances_of(heap, isolate, name);
    if (!options.json) {
      const std::size_t shown = options.all ? instances.size() : std::min(instances.size(), kRows);
      text +=
          fmt::format("{}{} {}\n", isolate_title(isolate), with_thousands(instances.size()), printable(name));
      for (std::size_t i = 0; i < shown; ++i) {
        text += fmt::format("  {:<16}{:>10} bytes{}\n", address_text(instances[i].address),
                            with_thousands(instances[i].shallow_bytes),
                            instances[i].is_live ? "" : "  [garbage]");
      }
      if (shown < instances.size()) text += fmt::format("  … {} more (--all)\n", instances.size() - shown);
      continue;
    }
    write_thread(json, isolate);
    json.key("instances").begin_array();
    for (const Instance& instance : instances) {
      json.line().begin_object().key("address").string(address_text(instance.address));
      json.key("shallow_bytes")
          .count(instance.shallow_bytes)
          .key("live")
          .boolean(instance.is_live)
          .end_object();
    }
    json.end_array().end_object();
  }
  if (!options.json) return sink.write(text);
  json.end_array().end_object();
  return json.finish();
}

struct FoundText {
  std::uint64_t address = 0;
  std::string text;
  bool is_live = true;
};

Result<void> write_texts(json::Writer& json, std::string_view key, const std::vector<FoundText>& found) {
  json.key(key).begin_array();
  for (const FoundText& each : found) {
    json.line().begin_object().key("address").string(address_text(each.address));
    json.key("value").string(each.text).key("live").boolean(each.is_live).end_object();
  }
  json.end_array().end_object();
  return {};
}

}  // namespace

Result<void> write_objects(CoreSession& session, const std::string& name, const HeapCommandOptions& options,
                           ByteSink& sink) {
  const auto heap = session.heap();
  if (!heap) return std::unexpected(heap.error());
  session.release();
  return name.empty() ? write_classes(**heap, options, sink) : write_instances(**heap, name, options, sink);
}

Result<void> write_strings(CoreSession& session, const std::string& pattern,
                           const HeapCommandOptions& options, ByteSink& sink) {
  const auto expression = Pattern::parse(pattern);
  if (!expression) return std::unexpected(expression.error());
  const auto heap = session.heap();
  if (!heap) return std::unexpected(heap.error());
  const int first_nonstring = (*heap)->heap().layout().type_first_nonstring.value;
  std::string text;
  json::Writer json(sink);
  if (options.json) json.begin_object().key("isolates").begin_array();
  for (IsolateObjects& isolate : (*heap)->isolates()) {
    std::vector<FoundText> found;
    for_each_object(isolate, [&](const v8::HeapObject& object, bool is_live) {
      if (object.shape->type >= first_nonstring) return;
      const auto content = v8::load_string_prefix((*heap)->heap(), {object.tagged()}, kMaxStringUnits);
      if (!content) return;
      std::string utf8 = content->to_utf8();
      if (expression->found_in(utf8)) found.push_back({object.address, std::move(utf8), is_live});
    });
    if (options.json) {
      write_thread(json, isolate);
      if (auto written = write_texts(json, "strings", found); !written) return written;
      continue;
    }
    text += fmt::format("{}{} strings\n", isolate_title(isolate), with_thousands(found.size()));
    const std::size_t shown = options.all ? found.size() : std::min(found.size(), kRows);
    for (std::size_t i = 0; i < shown; ++i) {
      const bool is_cut = !options.all && found[i].text.size() > kShownStringBytes;
      const std::string shown_text =
          is_cut ? to_valid_utf8(found[i].text.substr(0, kShownStringBytes)) + "…" : found[i].text;
      text += fmt::format("  {:<16}{}{}\n", address_text(found[i].address), printable(shown_text),
                          found[i].is_live ? "" : "  [garbage]");
    }
    if (shown < found.size()) text += fmt::format("  … {} more (--all)\n", found.size() - shown);
  }
  if (!options.json) return sink.write(text);
  json.end_array().end_object();
  return json.finish();
}

}  // namespace nodescope
