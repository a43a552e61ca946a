#include "analysis/heap/heap_diff.h"

#include <algorithm>
#include <functional>

namespace nodescope {

namespace {

// A class by its key; two that DevTools shows under one key are one.
class KeyIndex {
 public:
  // The number of the key.
  std::uint32_t add(std::string key, std::string_view name) {
    const auto [entry, is_new] =
        numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(names_.size()));
    if (is_new) {
      keys_.push_back(entry->first);
      names_.emplace_back(name);
    }
    return entry->second;
  }
  std::vector<std::string> take_keys() { return std::move(keys_); }
  std::vector<std::string> take_names() { return std::move(names_); }
  std::size_t size() const { return names_.size(); }

 private:
  FlatMap<std::string, std::uint32_t> numbers_;
  std::vector<std::string> keys_;
  std::vector<std::string> names_;
};

}  // namespace

HeapBaseline::HeapBaseline(const HeapAnalysis& older, const std::vector<HeapInterface>& interfaces)
    : total_bytes_(older.total_bytes()) {
  const HeapGraph& graph = older.graph();
  HeapNames names(graph);
  const HeapClasses classes = classify(graph, names, interfaces);
  KeyIndex keys;
  std::vector<std::uint32_t> numbers;
  for (const HeapClass& heap_class : classes.classes)
    numbers.push_back(keys.add(class_key(names, heap_class), names.text(heap_class.name)));
  sums_.resize(keys.size());
  objects_.reserve(graph.node_count());
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    const std::uint64_t bytes = older.shallow_size(node);
    const std::uint32_t number = numbers[classes.of_node[node]];
    objects_.emplace(graph.ids[node], Object{number, bytes});
    if (bytes == 0) continue;
    ++sums_[number].count;
    sums_[number].bytes += bytes;
  }
  for (const HeapGroup& group : derive_groups(older, classes))
    sums_[numbers[group.heap_class]].retained_bytes += group.retained_bytes;
  keys_ = keys.take_keys();
  class_names_ = keys.take_names();
}

HeapDiff derive_heap_diff(const HeapBaseline& older, const HeapAnalysis& newer) {
  const HeapGraph& graph = newer.graph();
  const HeapClasses& classes = newer.classes();
  KeyIndex keys;
  for (std::size_t i = 0; i < older.keys().size(); ++i) keys.add(older.keys()[i], older.class_names()[i]);
  HeapDiff diff;
  for (const HeapClass& heap_class : classes.classes)
    diff.row_of_class.push_back(
        keys.add(class_key(newer.names(), heap_class), newer.names().text(heap_class.name)));
  diff.rows.resize(keys.size());
  // Everything is taken for gone until it is found.
  for (std::size_t i = 0; i < older.keys().size(); ++i) {
    diff.rows[i].removed = older.sums()[i].count;
    diff.rows[i].removed_bytes = older.sums()[i].bytes;
    diff.rows[i].retained_delta_bytes = -static_cast<std::int64_t>(older.sums()[i].retained_bytes);
  }
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    const std::uint64_t bytes = newer.shallow_size(node);
    if (bytes == 0) continue;
    const std::uint32_t number = diff.row_of_class[classes.of_node[node]];
    HeapDiffRow& row = diff.rows[number];
    const auto before = older.objects().find(graph.ids[node]);
    if (before != older.objects().end() && before->second.bytes != 0 &&
        before->second.class_index == number) {
      --row.removed;
      row.removed_bytes -= before->second.bytes;
    } else {
      ++row.added;
      row.added_bytes += bytes;
    }
  }
  for (const HeapGroup& group : derive_groups(newer))
    diff.rows[diff.row_of_class[group.heap_class]].retained_delta_bytes +=
        static_cast<std::int64_t>(group.retained_bytes);
  std::vector<std::string> names = keys.take_names();
  std::vector<std::string> all_keys = keys.take_keys();
  for (std::size_t i = 0; i < diff.rows.size(); ++i) {
    diff.rows[i].name = std::move(names[i]);
    diff.rows[i].key = std::move(all_keys[i]);
  }
  diff.bytes_delta =
      static_cast<std::int64_t>(newer.total_bytes()) - static_cast<std::int64_t>(older.total_bytes());
  return diff;
}

std::vector<const HeapDiffRow*> shown_rows(const HeapDiff& diff) {
  std::vector<const HeapDiffRow*> rows;
  for (const HeapDiffRow& row : diff.rows) {
    if (row.added != 0 || row.removed != 0) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::greater<>(), [](const HeapDiffRow* row) { return row->bytes_delta(); });
  return rows;
}

}  // namespace nodescope
