#include "analysis/heap/distances.h"

#include <charconv>
#include <optional>
#include <string>

#include "analysis/heap/shallow_sizes.h"
#include "base/flat_map.h"

namespace nodescope {

namespace {

// As JavaScript's parseInt reads the start of a text.
std::optional<std::int64_t> leading_integer(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n\r\v\f");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end == text.data() || error != std::errc()) return std::nullopt;
  return value;
}

class Distances {
 public:
  Distances(const HeapGraph& graph, const HeapNames& names, const EphemeronNames& ephemerons)
      : graph_(graph), names_(names), ephemerons_(ephemerons) {}

  Column<std::int32_t> derive() {
    distances_.assign(graph_.node_count(), kNoDistance);
    for (std::size_t edge = graph_.edge_begins[graph_.root]; edge < graph_.edge_begins[graph_.root + 1];
         ++edge) {
      const std::uint32_t target = graph_.edge_targets[edge];
      if (!is_user_root(graph_, target)) continue;
      // One that is named twice is walked twice, as by DevTools: the second time it passes entries of
      // WeakMaps.
      queue_.push_back(target);
      distances_[target] = 1;
    }
    const bool any = !queue_.empty();
    walk();
    queue_.clear();
    queue_.push_back(graph_.root);
    distances_[graph_.root] = any ? kSystemDistance : 0;
    walk();
    return std::move(distances_);
  }

 private:
  void walk() {
    for (std::size_t next = 0; next < queue_.size(); ++next) {
      const std::uint32_t node = queue_[next];
      const std::int32_t distance = distances_[node] + 1;
      const bool odd = is_native_context(node) || is_descriptors(node);
      for (std::size_t edge = graph_.edge_begins[node]; edge < graph_.edge_begins[node + 1]; ++edge) {
        const std::uint32_t target = graph_.edge_targets[edge];
        if (graph_.edge_type(edge) == HeapEdgeType::kWeak || distances_[target] != kNoDistance) continue;
        if ((odd && !passes_oddly(node, edge)) || !passes_as_ephemeron(edge)) continue;
        distances_[target] = distance;
        queue_.push_back(target);
      }
    }
  }

  bool is_native_context(std::uint32_t node) const {
    return graph_.type(node) == HeapNodeType::kHidden && names_.text_of(node) == "system / NativeContext";
  }
  bool is_descriptors(std::uint32_t node) const {
    return graph_.type(node) == HeapNodeType::kArray && names_.text_of(node) == "(map descriptors)";
  }

  bool passes_oddly(std::uint32_t node, std::size_t edge) const {
    const bool numbered = has_number(graph_.edge_type(edge));
    const std::string_view text = numbered ? std::string_view() : graph_.strings[graph_.edge_names[edge]];
    if (is_native_context(node)) return numbered || text != "sloppy_function_map";
    const auto index =
        numbered ? std::optional<std::int64_t>(graph_.edge_names[edge]) : leading_integer(text);
    return !index || *index < 2 || *index % 3 != 1;
  }

  // The first edge of an entry of a WeakMap is put aside, so that the entry is reached by the later of both.
  bool passes_as_ephemeron(std::size_t edge) {
    const Ephemeron* ephemeron = ephemerons_.find(edge);
    if (ephemeron == nullptr) return true;
    const auto [entry, is_first] = pending_.insert(ephemeron->pair);
    if (!is_first) pending_.erase(entry);
    return !is_first;
  }

  const HeapGraph& graph_;
  const HeapNames& names_;
  const EphemeronNames& ephemerons_;
  Column<std::int32_t> distances_;
  Column<std::uint32_t> queue_;
  FlatSet<std::string_view> pending_;
};

}  // namespace

Column<std::int32_t> derive_distances(const HeapGraph& graph, const HeapNames& names,
                                      const EphemeronNames& ephemerons) {
  return Distances(graph, names, ephemerons).derive();
}

}  // namespace nodescope
