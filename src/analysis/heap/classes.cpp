#include "analysis/heap/classes.h"

#include <fmt/format.h>

#include <functional>

namespace nodescope {

namespace {

class Classifier {
 public:
  Classifier(const HeapGraph& graph, HeapNames& names, const std::vector<HeapInterface>& interfaces)
      : graph_(graph),
        names_(names),
        interfaces_(interfaces),
        matcher_(graph, interfaces),
        type_names_(graph.node_type_names.size(), kNoName) {}

  HeapClasses classify() {
    result_.of_node.resize(graph_.node_count());
    for (std::uint32_t node = 0; node < graph_.node_count(); ++node)
      result_.of_node[node] = class_of({name_of(node), std::nullopt});
    for (const HeapLocation& location : graph_.locations) {  // the last one of a node counts
      if (graph_.type(location.node) != HeapNodeType::kObject) continue;
      std::uint32_t& known = result_.of_node[location.node];
      known = located_class(result_.classes[known].name, location);
    }
    return std::move(result_);
  }

 private:
  static constexpr HeapName kNoName = HeapGraph::kNone;

  struct Place {
    std::uint32_t name;
    std::uint32_t script_id;
    std::uint32_t line;
    std::uint32_t column;
    bool operator==(const Place&) const = default;
  };
  struct HashPlace {
    using is_avalanching = void;
    std::uint64_t operator()(const Place& place) const {
      return mix(std::uint64_t{place.name} << 32 | place.script_id,
                 (std::uint64_t{place.line} << 32 | place.column) ^ 0x9E3779B97F4A7C15u);
    }
  };

  HeapName name_of(std::uint32_t node) {
    switch (graph_.type(node)) {
      case HeapNodeType::kObject:
        if (names_.text_of(node) == "Object") return name_of_plain_object(node);
        [[fallthrough]];
      case HeapNodeType::kNative:
        return without_attributes(names_.of(node));
      default:
        return name_of_type(graph_.type_index(node));
    }
  }

  HeapName name_of_plain_object(std::uint32_t node) {
    const std::uint32_t match = interfaces_.empty() ? InterfaceMatcher::kNone : matcher_.match(node);
    if (match == InterfaceMatcher::kNone) return names_.of(node);
    const auto [entry, is_new] = interface_names_.try_emplace(match);
    if (is_new) entry->second = names_.make(interfaces_[match].name);
    return entry->second;
  }

  HeapName name_of_type(std::uint8_t type) {
    HeapName& name = type_names_[type];
    if (name != kNoName) return name;
    switch (static_cast<HeapNodeType>(type)) {
      case HeapNodeType::kHidden:
        return name = names_.make("(system)");
      case HeapNodeType::kCode:
        return name = names_.make("(compiled code)");
      case HeapNodeType::kClosure:
        return name = names_.make("Function");
      case HeapNodeType::kRegexp:
        return name = names_.make("RegExp");
      default:
        return name = names_.make("(" + graph_.node_type_names[type] + ")");
    }
  }

  // "<div id=…" becomes "<div>", so that all of a kind are one class.
  HeapName without_attributes(HeapName name) {
    const std::string_view text = names_.text(name);
    constexpr std::string_view kDetached = "Detached ";
    const std::size_t begin = text.starts_with('<')            ? 0
                              : text.starts_with("Detached <") ? kDetached.size() + 1
                                                               : 1;
    if (begin == 1) return name;
    const auto [entry, is_new] = element_names_.try_emplace(name);
    if (is_new) {
      const std::size_t space = text.find(' ', begin);
      entry->second = names_.make(space == std::string_view::npos ? std::string(text)
                                                                  : std::string(text.substr(0, space)) + ">");
    }
    return entry->second;
  }

  std::uint32_t class_of(const HeapClass& heap_class) {
    const auto [entry, is_new] =
        by_name_.try_emplace(heap_class.name, static_cast<std::uint32_t>(result_.classes.size()));
    if (is_new) result_.classes.push_back(heap_class);
    return entry->second;
  }

  // Classes with a place are one if their names are the same text.
  std::uint32_t located_class(HeapName name, const HeapLocation& at) {
    const auto [text, is_new_name] = name_ids_.try_emplace(name, HeapGraph::kNone);
    if (is_new_name) {
      text->second =
          by_text_.try_emplace(names_.text(name), static_cast<std::uint32_t>(by_text_.size())).first->second;
    }
    const auto [entry, is_new] = by_place_.try_emplace(Place{text->second, at.script_id, at.line, at.column},
                                                       static_cast<std::uint32_t>(result_.classes.size()));
    if (is_new) result_.classes.push_back({name, HeapLocation{0, at.script_id, at.line, at.column}});
    return entry->second;
  }

  const HeapGraph& graph_;
  HeapNames& names_;
  const std::vector<HeapInterface>& interfaces_;
  InterfaceMatcher matcher_;
  HeapClasses result_;
  std::vector<HeapName> type_names_;
  FlatMap<std::uint64_t, HeapName> interface_names_;
  FlatMap<std::uint64_t, HeapName> element_names_;
  FlatMap<std::uint64_t, std::uint32_t> by_name_;
  FlatMap<std::uint64_t, std::uint32_t> name_ids_;
  FlatMap<std::string_view, std::uint32_t> by_text_;
  boost::unordered_flat_map<Place, std::uint32_t, HashPlace> by_place_;
};

}  // namespace

HeapClasses classify(const HeapGraph& graph, HeapNames& names, const std::vector<HeapInterface>& interfaces) {
  return Classifier(graph, names, interfaces).classify();
}

std::string class_key(const HeapNames& names, const HeapClass& heap_class) {
  const std::string_view name = names.text(heap_class.name);
  if (!heap_class.location) return fmt::format(",{}", name);
  const HeapLocation& at = *heap_class.location;
  return fmt::format("{},{},{},{}", at.script_id, at.line, at.column, name);
}

}  // namespace nodescope
