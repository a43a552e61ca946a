#include "capture/heap_graph_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "capture/heap_edges.h"
#include "capture/heap_names.h"
#include "v8/constructor_names.h"
#include "v8/heap.h"
#include "v8/objects.h"
#include "v8/scripts.h"

namespace nodescope {

namespace {

// V8's names for what keeps objects alive (Root::kNumberOfRoots), in the order of v8::RootKind.
constexpr std::array<std::string_view, v8::kRootKinds> kRootNames = {
    "(Strong root list)", "(Stack roots)", "(Handle scope)",     "(Global handles)",
    "(Eternal handles)",  "(Micro tasks)", "(Compilation cache)"};

constexpr std::uint64_t kRootId = 1;
constexpr std::uint64_t kGcRootsId = 3;
constexpr std::uint64_t kFirstSubrootId = 5;

// Ids of nodes: 32 bits, odd, and the same in the next snapshot while an object stays where it is.
class HeapIds {
 public:
  explicit HeapIds(const v8::HeapImage& image) : image_(image) {
    std::vector<bool> taken(kSlots);
    taken[0] = true;  // of roots
    slots_.reserve(image.pages().size());
    for (const v8::HeapImage::Page& page : image.pages()) {
      std::size_t slot = FastHash()(page.page.range.begin.value) % kSlots;
      for (std::size_t tries = 0; taken[slot] && tries < kSlots; ++tries) slot = (slot + 1) % kSlots;
      taken[slot] = true;
      slots_.push_back(static_cast<std::uint32_t>(slot));
    }
  }

  // More than 16 GiB of small objects have ids beyond 32 bits.
  std::uint64_t of(std::uint64_t address) const {
    const std::uint32_t page = image_.page_at(address);
    if (page == v8::HeapImage::kNoPage) return 0;
    const std::uint64_t word = (address - image_.pages()[page].page.range.begin.value) / 8;
    return (std::uint64_t{slots_[page]} * kWords + word) * 2 + 1;
  }

 private:
  static constexpr std::size_t kWords = v8::kHeapPageBytes / 8;
  static constexpr std::size_t kSlots = (std::size_t{1} << 31) / kWords;

  const v8::HeapImage& image_;
  std::vector<std::uint32_t> slots_;
};

struct WeakPair {
  std::uint32_t table = 0;
  std::uint32_t key = 0;
  std::uint32_t value = 0;
};

class Maker {
 public:
  Maker(v8::HeapImage& image, const v8::Layout& layout, const v8::HeapObjects& objects,
        const v8::Isolate& isolate, const HeapGraphOptions& options)
      : layout_(layout),
        objects_(objects),
        isolate_(isolate),
        heap_(image, layout),
        ids_(image),
        texts_(builder_, heap_, objects, options.redact) {
    texts_.intern("<dummy>");
  }

  Result<HeapGraph> make() {
    v8::ConstructorNames constructors(heap_, objects_);
    constructors_ = &constructors;
    const HeapNodeNames names(objects_, constructors, texts_);
    find_pairs();
    builder_.reserve(objects_.size() + kFirstObject, std::size_t{objects_.size()} * 3);
    add_roots();
    HeapEdges edges(heap_, objects_, texts_);
    objects_.for_each([&](std::uint32_t id, const v8::HeapObject& object) {
      const std::uint32_t node = builder_.add_node(
          {names.type(id), names.name(id), ids_.of(object.address), object.bytes.size(), DomState::kUnknown});
      for (const HeapReference& reference : edges.read(object))
        builder_.add_edge(reference.type, reference.name, kFirstObject + reference.object);
      if (const auto memory = edges.native_memory(object)) add_native_edge(*memory);
      add_pairs(id);
      add_location(node, object);
    });
    for (const NativeMemory& memory : natives_) {
      builder_.add_node({HeapNodeType::kNative, texts_.intern(memory.name), next_native_id_, memory.bytes,
                         DomState::kUnknown});
      next_native_id_ += 2;
    }
    return std::move(builder_).finish();
  }

 private:
  static constexpr std::uint32_t kFirstObject = 2 + v8::kRootKinds;

  void add_roots() {
    builder_.add_node({HeapNodeType::kSynthetic, texts_.intern(""), kRootId, 0, DomState::kUnknown});
    builder_.add_edge(HeapEdgeType::kElement, 1, 1);
    add_user_roots();
    builder_.add_node(
        {HeapNodeType::kSynthetic, texts_.intern("(GC roots)"), kGcRootsId, 0, DomState::kUnknown});
    for (std::uint32_t kind = 0; kind < v8::kRootKinds; ++kind)
      builder_.add_edge(HeapEdgeType::kElement, kind + 1, 2 + kind);
    for (std::uint32_t kind = 0; kind < v8::kRootKinds; ++kind) {
      builder_.add_node({HeapNodeType::kSynthetic, texts_.intern(kRootNames[kind]),
                         kFirstSubrootId + 2 * kind, 0, DomState::kUnknown});
      FlatSet<std::uint64_t> seen;
      std::uint32_t index = 0;
      for (const v8::HeapRoot& root : isolate_.roots) {
        if (static_cast<std::uint32_t>(root.kind) != kind || !seen.insert(root.word).second) continue;
        const std::uint32_t object = objects_.find(root.word);
        if (object != v8::HeapObjects::kNone)
          builder_.add_edge(HeapEdgeType::kInternal, texts_.number(++index), kFirstObject + object);
      }
    }
  }

  // The global object of each context; since V8 14.2 the context itself.
  void add_user_roots() {
    constexpr std::uint64_t kGlobal = 32;
    const bool shows_context = layout_.version >= v8::Version{14, 2, 0};
    FlatSet<std::uint64_t> seen;
    std::uint32_t index = 1;
    for (const v8::HeapRoot& root : isolate_.roots) {
      const auto context = objects_.load(root.word - 1);
      if (!context || !objects_.shapes().is_native_context(context->shape->type)) continue;
      const std::uint64_t word = shows_context ? root.word : context->word(kGlobal);
      const std::uint32_t object = objects_.find(word);
      if (object == v8::HeapObjects::kNone || !seen.insert(word).second) continue;
      builder_.add_edge(HeapEdgeType::kShortcut, texts_.number(++index), kFirstObject + object);
    }
  }

  void add_native_edge(const NativeMemory& memory) {
    const auto [known, is_new] =
        native_by_address_.try_emplace(memory.address, static_cast<std::uint32_t>(natives_.size()));
    if (is_new) natives_.push_back(memory);
    builder_.add_edge(HeapEdgeType::kInternal, texts_.intern("backing_store"),
                      kFirstObject + objects_.size() + known->second);
  }

  void find_pairs() {
    objects_.for_each([&](std::uint32_t table, const v8::HeapObject& object) {
      if (object.shape->weak_rule != v8::WeakRule::kEphemerons) return;
      v8::for_each_ephemeron(object, [&](const v8::Ephemeron& pair) {
        const std::uint32_t key = objects_.find(pair.key);
        const std::uint32_t value = objects_.find(pair.value);
        const auto key_object = objects_.load(pair.key & ~std::uint64_t{3});
        if (key == v8::HeapObjects::kNone || value == v8::HeapObjects::kNone || !key_object ||
            layout_.type_oddball.is(key_object->shape->type))
          return;
        const auto index = static_cast<std::uint32_t>(pairs_.size());
        pairs_.push_back({table, key, value});
        pair_texts_.push_back(fmt::format(
            "part of key ({} @{}) -> value ({} @{}) pair in WeakMap (table @{})", class_of(*key_object),
            ids_.of(key_object->address), class_of(objects_.load(pair.value & ~std::uint64_t{3})),
            ids_.of(pair.value & ~std::uint64_t{3}), ids_.of(object.address)));
        pairs_of_[key].push_back(index);
        pairs_of_[table].push_back(index);
      });
    });
  }

  std::string class_of(const std::optional<v8::HeapObject>& object) {
    if (!object || !object->shape->is_receiver) return "value";
    std::string name(constructors_->name(constructors_->of(*object).name));
    std::ranges::replace(name, '\n', ' ');
    std::ranges::replace(name, '\r', ' ');
    return name;
  }

  void add_pairs(std::uint32_t object) {
    const auto found = pairs_of_.find(object);
    if (found == pairs_of_.end()) return;
    std::uint32_t number = 0;
    for (const std::uint32_t index : found->second)
      builder_.add_edge(HeapEdgeType::kInternal,
                        texts_.intern(fmt::format("{} / {}", ++number, pair_texts_[index])),
                        kFirstObject + pairs_[index].value);
  }

  // Where the function was written that makes such objects, or that the closure is.
  void add_location(std::uint32_t node, const v8::HeapObject& object) {
    if (!object.shape->is_receiver || layout_.type_js_proxy.is(object.shape->type)) return;
    std::uint64_t function = object.tagged();
    if (!layout_.is_function(object.shape->type)) {
      constexpr std::uint64_t kGeneratorFunction = 24;
      const std::string_view type = layout_.instance_types.class_name(object.shape->type);
      const bool is_generator =
          type == "JSGeneratorObject" || type == "JSAsyncFunctionObject" || type == "JSAsyncGeneratorObject";
      function = is_generator ? object.word(kGeneratorFunction) : constructors_->of(object).constructor;
    }
    if (function == 0) return;
    const auto shared = v8::shared_of_function(heap_, v8::TaggedWord{function});
    if (!shared) return;
    const auto [known, is_new] = locations_.try_emplace(shared->value);
    if (is_new) known->second = find_location(*shared);
    if (!known->second) return;
    HeapLocation location = *known->second;
    location.node = node;
    builder_.add_location(location);
  }

  std::optional<HeapLocation> find_location(v8::TaggedWord shared) {
    constexpr std::int64_t kScriptId = 64;
    const auto info = v8::SharedFunctionInfo::load(heap_, shared);
    const auto script = info ? info->script() : std::nullopt;
    const auto script_id = script ? heap_.field(*script, kScriptId) : std::nullopt;
    if (!script_id || !script_id->is_smi() || script_id->smi() < 0) return std::nullopt;
    HeapLocation location{0, static_cast<std::uint32_t>(script_id->smi()), 0, 0};
    const auto known = scripts_.load(heap_, *script);
    const auto place = known ? scripts_.place(*known, std::max(info->start(), 0)) : std::nullopt;
    if (place) {
      location.line = place->line - 1;
      location.column = place->column - 1;
    }
    return location;
  }

  const v8::Layout& layout_;
  const v8::HeapObjects& objects_;
  const v8::Isolate& isolate_;
  v8::Heap heap_;
  HeapIds ids_;
  HeapGraphBuilder builder_;
  HeapTexts texts_;
  v8::ConstructorNames* constructors_ = nullptr;
  v8::Scripts scripts_;
  std::vector<NativeMemory> natives_;
  FlatMap<std::uint64_t, std::uint32_t> native_by_address_;
  std::uint64_t next_native_id_ = 2;  // even, as the ids of what is not V8's
  std::vector<WeakPair> pairs_;
  std::vector<std::string> pair_texts_;
  FlatMap<std::uint32_t, std::vector<std::uint32_t>> pairs_of_;
  FlatMap<std::uint64_t, std::optional<HeapLocation>> locations_;  // by shared function
};

void add_doubts(const v8::Layout& layout, const v8::HeapObjects::Check& check, Diagnostics& diagnostics) {
  if (check.broken_references != 0)
    diagnostics.add(Severity::kWarning, "references to where no object is: the heap was being collected", {},
                    check.broken_references);
  if (check.unknown_sizes != 0)
    diagnostics.add(Severity::kInfo, "objects of V8's own whose size is not known",
                    layout.instance_types.class_name(check.unknown_type), check.unknown_sizes);
  if (!layout.is_known_version())
    diagnostics.warn("V8 is newer than nodescope knows: names and sizes may be wrong", layout.versions.v8);
}

}  // namespace

Result<HeapGraph> make_heap_graph(v8::HeapImage& image, const v8::Layout& layout,
                                  const v8::HeapObjects& objects, const v8::Isolate& isolate,
                                  const HeapGraphOptions& options) {
  auto graph = Maker(image, layout, objects, isolate, options).make();
  if (graph) add_doubts(layout, objects.check(), graph->diagnostics);
  return graph;
}

}  // namespace nodescope
