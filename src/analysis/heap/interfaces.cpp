#include "analysis/heap/interfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace nodescope {

namespace {

constexpr std::size_t kLongestName = 120;  // in UTF-16 units, without the last brace
constexpr std::size_t kLeastCount = 2;
constexpr std::size_t kLeastShare = 1000;  // one of so many plain objects

// How many UTF-16 units a text in UTF-8 (or WTF-8) has.
std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if ((byte & 0xC0u) != 0x80) units += byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

bool is_lone_surrogate(std::string_view text) {
  return text.size() >= 3 && static_cast<std::uint8_t>(text[0]) == 0xED &&
         static_cast<std::uint8_t>(text[1]) >= 0xA0;
}

// As JSON.stringify writes a text.
std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    constexpr std::string_view kControls = "\b\t\n\f\r";
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (const std::size_t at = kControls.find(c); at != std::string_view::npos) {
      json += '\\';
      json += std::string_view("btnfr")[at];
    } else if (static_cast<std::uint8_t>(c) < 0x20) {
      fmt::format_to(std::back_inserter(json), "\\u{:04x}", static_cast<std::uint8_t>(c));
    } else if (is_lone_surrogate(text.substr(i))) {
      const unsigned unit = 0xD000u | (static_cast<std::uint8_t>(text[i + 1]) & 0x3Fu) << 6 |
                            (static_cast<std::uint8_t>(text[i + 2]) & 0x3Fu);
      fmt::format_to(std::back_inserter(json), "\\u{:04x}", unit);
      i += 2;
    } else {
      json += c;
    }
  }
  return json + '"';
}

std::string shown_property(std::string_view name) {
  return name.find_first_of(",'\"{}") == std::string_view::npos ? std::string(name) : quoted(name);
}

// The distinct lists of properties, and how many objects have each.
class Shapes {
 public:
  Shapes(const HeapGraph& graph, const HeapNames& names) : graph_(graph), names_(names) {}

  std::vector<HeapInterface> infer() {
    std::size_t objects = 0;
    for (std::uint32_t node = 0; node < graph_.node_count(); ++node) {
      if (!is_plain_object(graph_, names_, node)) continue;
      ++objects;
      count(node);
    }
    std::vector<const Shape*> frequent;
    for (const Shape& shape : shapes_) {
      if (shape.count >= kLeastCount && shape.count * kLeastShare >= objects) frequent.push_back(&shape);
    }
    std::ranges::stable_sort(frequent, std::greater<>(), [](const Shape* shape) { return shape->count; });
    std::vector<HeapInterface> interfaces;
    for (const Shape* shape : frequent) {
      HeapInterface& interface = interfaces.emplace_back();
      interface.name = shape->name;
      for (const std::uint32_t property : shape->properties)
        interface.properties.emplace_back(graph_.strings[property]);
    }
    return interfaces;
  }

 private:
  struct Shape {
    std::string name;
    std::vector<std::uint32_t> properties;
    std::size_t count = 0;
  };

  struct Shown {
    std::string text;
    std::size_t length = 0;
    bool is_proto = false;
  };

  const Shown& shown(std::uint32_t property) {
    const auto [entry, is_new] = shown_.try_emplace(property);
    if (is_new) {
      const std::string_view name = graph_.strings[property];
      entry->second.text = shown_property(name);
      entry->second.length = utf16_length(entry->second.text);
      entry->second.is_proto = name == "__proto__";
    }
    return entry->second;
  }

  void count(std::uint32_t node) {
    properties_.clear();
    std::size_t length = 1;
    for (std::size_t edge = graph_.edge_begins[node]; edge < graph_.edge_begins[node + 1]; ++edge) {
      if (graph_.edge_type(edge) != HeapEdgeType::kProperty) continue;
      const std::uint32_t property = graph_.edge_names[edge];
      const Shown& name = shown(property);
      if (name.is_proto) continue;
      if (length > 1 && length + name.length > kLongestName) break;
      length += name.length + (length == 1 ? 0 : 2);
      properties_.push_back(property);
    }
    if (properties_.empty()) return;
    // One text per list of properties; a text that two lists share is one shape, the first one's.
    const std::string_view key(reinterpret_cast<const char*>(properties_.data()),
                               properties_.size() * sizeof(properties_[0]));
    if (const auto known = by_properties_.find(key); known != by_properties_.end()) {
      ++shapes_[known->second].count;
      return;
    }
    std::string name = "{";
    for (const std::uint32_t property : properties_) name += (name == "{" ? "" : ", ") + shown(property).text;
    name += '}';
    const auto [entry, is_new] = by_name_.try_emplace(name, shapes_.size());
    if (is_new) shapes_.push_back({std::move(name), properties_, 0});
    by_properties_.emplace(std::string(key), entry->second);
    ++shapes_[entry->second].count;
  }

  const HeapGraph& graph_;
  const HeapNames& names_;
  std::vector<Shape> shapes_;  // in the order in which they were first seen
  FlatMap<std::string, std::size_t> by_name_;
  FlatMap<std::string, std::size_t> by_properties_;
  FlatMap<std::uint64_t, Shown> shown_;
  std::vector<std::uint32_t> properties_;  // of the node at hand
};

}  // namespace

bool is_plain_object(const HeapGraph& graph, const HeapNames& names, std::uint32_t node) {
  return graph.type(node) == HeapNodeType::kObject && names.text_of(node) == "Object";
}

std::vector<HeapInterface> infer_interfaces(const HeapGraph& graph, const HeapNames& names) {
  return Shapes(graph, names).infer();
}

InterfaceMatcher::InterfaceMatcher(const HeapGraph& graph, const std::vector<HeapInterface>& interfaces)
    : graph_(graph) {
  std::vector<std::size_t> uses;  // by property: in how many interfaces
  for (const HeapInterface& interface : interfaces) {
    for (const std::string& name : interface.properties) {
      const auto [entry, is_new] = properties_.try_emplace(name, static_cast<std::uint32_t>(uses.size()));
      if (is_new) uses.push_back(0);
      ++uses[entry->second];
    }
  }
  by_property_.resize(uses.size());
  counts_.resize(uses.size());
  for (std::uint32_t i = 0; i < interfaces.size(); ++i) {
    Candidate candidate{i, static_cast<std::uint32_t>(interfaces[i].properties.size()), {}};
    std::uint32_t rarest = kNone;
    for (const std::string& name : interfaces[i].properties) {
      const std::uint32_t property = properties_.find(name)->second;
      if (rarest == kNone || uses[property] < uses[rarest]) rarest = property;
      const auto known = std::ranges::find(candidate.needs, property, &Need::property);
      if (known == candidate.needs.end()) {
        candidate.needs.push_back({property, 1});
      } else {
        ++known->count;
      }
    }
    by_property_[rarest].push_back(std::move(candidate));
  }
}

std::uint32_t InterfaceMatcher::match(std::uint32_t node) {
  present_.clear();
  for (std::size_t edge = graph_.edge_begins[node]; edge < graph_.edge_begins[node + 1]; ++edge) {
    if (graph_.edge_type(edge) != HeapEdgeType::kProperty) continue;
    const auto [entry, is_new] = property_names_.try_emplace(graph_.edge_names[edge], kNone);
    if (is_new) {
      const auto known = properties_.find(graph_.strings[graph_.edge_names[edge]]);
      if (known != properties_.end()) entry->second = known->second;
    }
    if (entry->second == kNone) continue;
    if (counts_[entry->second]++ == 0) present_.push_back(entry->second);
  }
  std::uint32_t best = kNone;
  std::uint32_t best_size = 0;
  for (const std::uint32_t property : present_) {
    for (const Candidate& candidate : by_property_[property]) {
      if (candidate.size < best_size || (candidate.size == best_size && candidate.interface > best)) continue;
      if (!std::ranges::all_of(candidate.needs,
                               [&](const Need& need) { return counts_[need.property] >= need.count; }))
        continue;
      best = candidate.interface;
      best_size = candidate.size;
    }
  }
  for (const std::uint32_t property : present_) counts_[property] = 0;
  return best;
}

}  // namespace nodescope
