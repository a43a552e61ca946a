#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "app/core/heap_commands.h"
#include "app/core/value_text.h"
#include "app/core/walked_heap.h"
#include "base/text.h"
#include "json/writer.h"
#include "v8/objects.h"
#include "v8/properties.h"
#include "v8/strings.h"

namespace nodescope {

namespace {

constexpr std::size_t kReferrers = 40;  // shown, unless all are asked for
constexpr std::size_t kMaxWay = 1000;

using IsolateObjects = WalkedHeap::IsolateObjects;

struct Referrer {
  std::uint64_t address = 0;
  std::string holder;  // what it is
  std::string edge;    // how it refers
  bool is_weak = false;
  bool is_live = true;
};

std::string_view to_words(v8::RootKind kind) {
  constexpr std::array<std::string_view, v8::kRootKinds> kWords = {"V8's own roots",
                                                                   "the stack of a thread",
                                                                   "a handle of C++ on the stack",
                                                                   "a global handle of C++",
                                                                   "an eternal handle of C++",
                                                                   "the queue of microtasks",
                                                                   "the cache of compiled code"};
  return kWords[static_cast<std::size_t>(kind)];
}

// Names of objects and of the ways in which they refer to each other.
class Namer {
 public:
  explicit Namer(CoreSession& session, WalkedHeap& heap, IsolateObjects& isolate)
      : heap_(heap.heap()),
        layout_(heap.heap().layout()),
        facts_(session.view().engine()->values),
        isolate_(isolate) {}

  std::string object(const v8::HeapObject& object) {
    if (object.shape->is_receiver) {
      if (heap_.layout().is_function(object.shape->type))
        return "function " + isolate_.names->function_name(object.tagged());
      return std::string(isolate_.names->name(isolate_.names->of(object).name));
    }
    if (object.shape->type < layout_.type_first_nonstring.value) return "string";
    const v8::ObjectShapes& shapes = isolate_.objects.shapes();
    if (shapes.is_native_context(object.shape->type)) return "the global scope";
    if (shapes.is_context(object.shape->type)) return scope(object);
    const std::string_view type = layout_.instance_types.class_name(object.shape->type);
    return type.empty() ? "an internal object" : std::string(type);
  }

  std::string edge(const v8::HeapObject& holder, const v8::HeapSlot& slot, std::uint64_t target) {
    const v8::ObjectShapes& shapes = isolate_.objects.shapes();
    if (slot.offset == 0) return "its map";
    if (holder.shape->is_receiver) {
      if (std::string name = property(holder, target); !name.empty()) return "property " + name;
      if (layout_.object_elements.is(static_cast<std::int64_t>(slot.offset))) return "its elements";
      if (layout_.object_properties.is(static_cast<std::int64_t>(slot.offset))) return "its properties";
      if (is_collection(holder.shape->type) &&
          facts_.collection_table.is(static_cast<std::int64_t>(slot.offset)))
        return "its entries";
      if (heap_.layout().is_function(holder.shape->type) &&
          facts_.function_context.is(static_cast<std::int64_t>(slot.offset)))
        return "its variables";
    }
    if (shapes.is_context(holder.shape->type)) {
      if (std::string name = variable(holder, slot.offset); !name.empty()) return "variable " + name;
    }
    if (shapes.is_fixed_array(holder.shape->type) && slot.offset >= 16)
      return fmt::format("element {}", (slot.offset - 16) / 8);
    return fmt::format("field at {}", slot.offset);
  }

  // The name under which an object has another; empty: it has it not.
  std::string property(const v8::HeapObject& holder, std::uint64_t target) {
    std::string found;
    v8::for_each_property(heap_, {holder.tagged()}, [&](const v8::Property& each) {
      if (each.value.value != target) return true;
      auto name = v8::load_name(heap_, each.key);
      if (!name) {
        const auto description = heap_.field(each.key, layout_.symbol_name);
        name = description ? v8::load_name(heap_, *description) : std::nullopt;
      }
      found = name.value_or("?");
      return false;
    });
    return found;
  }

 private:
  bool is_collection(int type) const {
    return facts_.type_map.is(type) || facts_.type_set.is(type) || facts_.type_weak_map.is(type) ||
           facts_.type_weak_set.is(type);
  }

  // Of the function whose variables it has.
  std::string scope(const v8::HeapObject& context) {
    const auto info = v8::ScopeInfo::load(heap_, {context.word(16)});
    return info && !info->name().empty() ? "the scope of " + info->name() : "a scope";
  }

  std::string variable(const v8::HeapObject& context, std::uint64_t offset) {
    const auto length = heap_.array_length({context.tagged()});
    const auto names = v8::load_context_names(heap_, {context.word(16)});
    if (!length || !names || offset < 16) return {};
    const auto slot = static_cast<std::int64_t>((offset - 16) / 8);
    const auto count = static_cast<std::int64_t>(names->locals.size());
    const std::int64_t index = slot - (*length - count - (names->has_function_variable ? 1 : 0));
    return index >= 0 && index < count ? names->locals[static_cast<std::size_t>(index)] : std::string();
  }

  v8::Heap& heap_;
  const v8::Layout& layout_;
  const v8::ValueFacts& facts_;
  IsolateObjects& isolate_;
};

std::vector<Referrer> find_referrers(Namer& namer, IsolateObjects& isolate, std::uint64_t target) {
  std::vector<Referrer> found;
  const auto visit = [&](const v8::HeapObject& holder, bool is_live) {
    v8::for_each_slot(isolate.objects.shapes(), holder, [&](const v8::HeapSlot& slot) {
      if ((slot.word & ~std::uint64_t{2}) != target) return;
      found.push_back(
          {holder.address, namer.object(holder), namer.edge(holder, slot, target), slot.is_weak, is_live});
    });
  };
  isolate.objects.for_each([&](std::uint32_t, const v8::HeapObject& object) { visit(object, true); });
  isolate.objects.for_each_dead([&](const v8::HeapObject& object) { visit(object, false); });
  return found;
}

// The shortest way from a root to an object, as numbers of objects, the target first.  What a stack holds for
// the moment counts only where nothing else does.
class WayFinder {
 public:
  explicit WayFinder(IsolateObjects& isolate)
      : isolate_(isolate),
        objects_(isolate.objects),
        addresses_(objects_.size()),
        parents_(objects_.size(), v8::HeapObjects::kNone) {
    objects_.for_each(
        [&](std::uint32_t number, const v8::HeapObject& object) { addresses_[number] = object.address; });
  }

  struct Way {
    std::vector<std::uint64_t> addresses;
    std::optional<v8::RootKind> root;
  };

  Way find(std::uint64_t target) {
    const std::uint32_t wanted = objects_.find(target);
    if (wanted == v8::HeapObjects::kNone) return {};
    for (const bool is_momentary : {false, true}) {
      add_roots(is_momentary);
      for (; next_ < queue_.size() && parents_[wanted] == v8::HeapObjects::kNone; ++next_)
        add_children(queue_[next_]);
    }
    if (parents_[wanted] == v8::HeapObjects::kNone) return {};
    Way way;
    for (std::uint32_t number = wanted; way.addresses.size() < kMaxWay; number = parents_[number]) {
      way.addresses.push_back(addresses_[number]);
      if (parents_[number] != number) continue;
      way.root = roots_.at(number);
      break;
    }
    return way;
  }

 private:
  void add_roots(bool momentary) {
    for (const v8::HeapRoot& root : isolate_.isolate.roots) {
      const bool is_momentary = root.kind == v8::RootKind::kStack || root.kind == v8::RootKind::kHandleScopes;
      const std::uint32_t number = objects_.find(root.word);
      if (is_momentary != momentary || number == v8::HeapObjects::kNone ||
          parents_[number] != v8::HeapObjects::kNone)
        continue;
      parents_[number] = number;
      roots_.emplace(number, root.kind);
      queue_.push_back(number);
    }
  }

  void add_children(std::uint32_t number) {
    const auto object = objects_.load(addresses_[number]);
    if (!object) return;
    v8::for_each_slot(objects_.shapes(), *object, [&](const v8::HeapSlot& slot) {
      if (slot.is_weak) return;
      const std::uint32_t child = objects_.find(slot.word);
      if (child == v8::HeapObjects::kNone || parents_[child] != v8::HeapObjects::kNone) return;
      parents_[child] = number;
      queue_.push_back(child);
    });
  }

  IsolateObjects& isolate_;
  v8::HeapObjects& objects_;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::uint32_t> queue_;
  std::size_t next_ = 0;  // in the queue
  FlatMap<std::uint64_t, v8::RootKind> roots_;
};

// Each step: what holds the one before it, and how.
std::vector<Referrer> steps_of(Namer& namer, IsolateObjects& isolate, const WayFinder::Way& way) {
  std::vector<Referrer> steps;
  for (std::size_t i = 1; i < way.addresses.size(); ++i) {
    const auto holder = isolate.objects.load(way.addresses[i]);
    if (!holder) break;
    const std::uint64_t target = way.addresses[i - 1] + 1;
    Referrer step{holder->address, namer.object(*holder), "", false, true};
    v8::for_each_slot(isolate.objects.shapes(), *holder, [&](const v8::HeapSlot& slot) {
      if (step.edge.empty() && slot.word == target) step.edge = namer.edge(*holder, slot, target);
    });
    // What V8 keeps beside an object belongs to it.
    const bool is_beside =
        step.edge == "its properties" || step.edge == "its elements" || step.edge == "its entries";
    if (is_beside && i >= 2 && !steps.empty()) {
      const std::string name = namer.property(*holder, way.addresses[i - 2] + 1);
      if (step.edge == "its entries") {
        step.edge = "an entry";
      } else {
        step.edge = name.empty() ? steps.back().edge : "property " + name;
      }
      steps.pop_back();
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string referrer_text(const Referrer& referrer) {
  return fmt::format("{} of {} @0x{:x}{}{}", printable(referrer.edge), printable(referrer.holder),
                     referrer.address, referrer.is_weak ? "  [weak]" : "",
                     referrer.is_live ? "" : "  [garbage]");
}

void write_referrers(json::Writer& json, std::string_view key, const std::vector<Referrer>& referrers) {
  json.key(key).begin_array();
  for (const Referrer& each : referrers) {
    json.line().begin_object().key("address").string(fmt::format("0x{:x}", each.address));
    json.key("holder").string(each.holder).key("edge").string(each.edge);
    json.key("weak").boolean(each.is_weak).key("live").boolean(each.is_live).end_object();
  }
  json.end_array();
}

}  // namespace

Result<void> write_references(CoreSession& session, Address object, const HeapCommandOptions& options,
                              ByteSink& sink) {
  const auto heap = session.heap();
  if (!heap) return std::unexpected(heap.error());
  session.release();
  const std::uint64_t target = (object.value & ~std::uint64_t{7}) + 1;
  for (IsolateObjects& isolate : (*heap)->isolates()) {
    const auto loaded = isolate.objects.load(target - 1);
    if (!loaded) continue;
    Namer namer(session, **heap, isolate);
    const std::vector<Referrer> referrers = find_referrers(namer, isolate, target);
    const WayFinder::Way way = WayFinder(isolate).find(target);
    const std::vector<Referrer> steps = steps_of(namer, isolate, way);
    if (options.json) {
      json::Writer json(sink);
      json.begin_object().key("thread");
      isolate.isolate.tid == 0 ? json.null() : json.integer(isolate.isolate.tid);
      write_referrers(json, "way", steps);
      json.key("root");
      way.root ? json.string(to_words(*way.root)) : json.null();
      write_referrers(json, "referrers", referrers);
      json.end_object();
      return json.finish();
    }
    std::string text = fmt::format("{} @0x{:x}", printable(namer.object(*loaded)), loaded->address);
    text += way.root ? " is held by\n" : " is garbage: no root reaches it\n";
    for (const Referrer& step : steps) text += "  " + referrer_text(step) + "\n";
    if (way.root) text += fmt::format("  {}\n", to_words(*way.root));
    text += fmt::format("\n{} references\n", with_thousands(referrers.size()));
    const std::size_t shown = options.all ? referrers.size() : std::min(referrers.size(), kReferrers);
    for (std::size_t i = 0; i < shown; ++i) text += "  " + referrer_text(referrers[i]) + "\n";
    if (shown < referrers.size()) text += fmt::format("  … {} more (--all)\n", referrers.size() - shown);
    return sink.write(text);
  }
  return fail(ErrorCode::kNotFound, fmt::format("no object of V8's heap is at 0x{:x}", object.value));
}

}  // namespace nodescope
