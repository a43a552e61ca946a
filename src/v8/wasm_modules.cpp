#include "v8/wasm_modules.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <span>

#include "v8/object_cache.h"

namespace nodescope::v8 {

namespace {

constexpr std::size_t kMaxModules = 1 << 12;
constexpr std::size_t kMaxCodes = 1 << 18;
constexpr std::size_t kMaxPlacesOfCode = 1 << 12;
constexpr std::uint64_t kMaxNewCodes = 1 << 18;
constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{1} << 30;  // V8's own limit
// Of larger ones no names are read: the copy would take too long and too much.
constexpr std::uint64_t kMaxNamedBytes = std::uint64_t{128} << 20;
constexpr std::uint64_t kEndBytes = 256;
constexpr std::uint32_t kMaxPartBytes = 64 << 20;  // instructions or a table of one code
constexpr int kMaxTreeDepth = 64;
constexpr int kMaxInlineDepth = 64;

// The fields of an instance among which its module object is, and of that among which its script is.
constexpr std::int64_t kInstanceFields = 64;
constexpr std::int64_t kModuleFields = 16;

// Of the record that keeps a C++ object alive, and of V8's NativeModule.
constexpr std::size_t kManagedWords = 8;
constexpr std::size_t kNativeWords = 80;

constexpr std::string_view kMagic("\0asm", 4);

// A node of the tree: colour, parent, left, right, then the key and what it stands for.
struct TreeNode {
  std::uint64_t colour, parent, left, right, key, value;
};

// Its root and outermost nodes with the count of all, then begin, end and capacity of the list.
struct CodesField {
  std::uint64_t root, first, last, count, new_begin, new_end, new_capacity;

  // `head` is what stands for the end of the tree.
  bool is_plausible(std::uint64_t head) const {
    const bool is_list = new_begin <= new_end && new_end <= new_capacity && (new_begin | new_end) % 8 == 0 &&
                         (new_begin == 0) == (new_capacity == 0);
    const bool is_empty = root == 0 && first == head && last == head && count == 0;
    const bool has_nodes = root != 0 && first != 0 && last != 0 && count != 0 && count < kMaxCodes;
    return is_list && (is_empty || has_nodes);
  }
};

// Where WasmCode has what follows the addresses of its module and its instructions.
struct CodeLayout {
  std::uint64_t tables = 0;  // the address of what it knows about its instructions
  std::uint64_t sizes = 0;   // 32-bit numbers: of the instructions, of the tables in another order
  std::size_t trapping = 0;  // which of them is that of the first table
  std::optional<std::size_t> inlined;
  std::size_t number = 0;  // behind the sizes is the function's

  static constexpr std::size_t kPositions = 2;
};

CodeLayout code_layout(const Version& version) {
  if (version < Version{11, 0, 0}) return {24, 32, 3, std::nullopt, 4};
  if (version < Version{12, 5, 0}) return {16, 24, 4, 3, 5};
  if (version < Version{13, 0, 0}) return {16, 24, 5, 3, 6};
  return {24, 32, 5, 3, 6};
}

constexpr std::size_t kCodeBytes = 64;

// {i32 function, bool tail call, u64 position of the call}, packed
constexpr std::size_t kInlinedBytes = 13;

template <typename T>
T load_at(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<std::string> read_bytes_of(Memory& memory, Range<Address> range) {
  std::string bytes(range.size_bytes(), '\0');
  if (!memory.read(range.begin, std::as_writable_bytes(std::span(bytes)))) return std::nullopt;
  return bytes;
}

}  // namespace

void WasmModules::begin_generation() {
  ++generation_;
  instances_.clear();
  in_vain_.clear();
  if (codes_.size() > kMaxCodes) codes_.clear();
  if (modules_.size() > kMaxModules) modules_.clear();
}

const std::vector<WasmCall>& WasmModules::calls(Address pc, bool is_leaf,
                                                std::optional<TaggedWord> instance) {
  static const std::vector<WasmCall> kNone;
  const Address within = is_leaf ? pc : pc - 1;
  KnownCode* known = find(within);
  if (known == nullptr && !in_vain_.contains(within.value)) known = search(within, instance);
  if (known == nullptr) {
    in_vain_.insert(within.value);
    return kNone;
  }
  const Module* module = module_at(known->code.module);
  if (module == nullptr) return kNone;
  const std::uint64_t key = pc.value << 1 | (is_leaf ? 1u : 0u);
  if (const auto same = known->calls.find(key); same != known->calls.end()) return same->second;
  if (known->calls.size() >= kMaxPlacesOfCode) known->calls.clear();
  return known->calls.emplace(key, derive_calls(known->code, *module, pc, is_leaf)).first->second;
}

// What was known of a place counts while its code still says so.
WasmModules::KnownCode* WasmModules::find(Address pc) {
  const auto next = codes_.upper_bound(pc);
  if (next == codes_.begin()) return nullptr;
  const auto known = std::prev(next);
  KnownCode& entry = known->second;
  if (!entry.code.instructions.contains(pc)) return nullptr;
  if (entry.generation != generation_) {
    const bool is_same = module_at(entry.code.module) != nullptr &&
                         load_code(entry.code.object, entry.code.module) == entry.code;
    if (!is_same && heap_.memory().is_gone())
      return generation_ - entry.generation <= kRecentGenerations ? &entry : nullptr;
    if (!is_same) {
      codes_.erase(known);
      return nullptr;
    }
    entry.generation = generation_;
  }
  return &entry;
}

// A frame that is not set up yet has no instance.
WasmModules::KnownCode* WasmModules::search(Address pc, std::optional<TaggedWord> instance) {
  if (instance) {
    Module* module = module_of(*instance);
    return module == nullptr ? nullptr : search(pc, *module);
  }
  std::vector<Address> natives;
  for (const auto& [native, module] : modules_) natives.push_back(native);
  for (const Address native : natives) {
    Module* module = module_at(native);
    KnownCode* found = module == nullptr ? nullptr : search(pc, *module);
    if (found != nullptr) return found;
  }
  return nullptr;
}

WasmModules::KnownCode* WasmModules::search(Address pc, Module& module) {
  Memory& memory = heap_.memory();
  const auto codes = memory.load<CodesField>(module.codes_field);
  if (!codes) return nullptr;
  std::uint64_t nearest = 0;
  Address next{codes->root};
  for (int depth = 0; next.value != 0 && depth < kMaxTreeDepth; ++depth) {
    const auto node = memory.load<TreeNode>(next);
    if (!node) break;
    if (node->key <= pc.value) nearest = node->value;
    next = Address{node->key <= pc.value ? node->right : node->left};
  }
  const auto code = nearest != 0 ? load_code(Address{nearest}, module.native) : std::nullopt;
  if (code && code->instructions.contains(pc)) return remember(*code);
  return search_newest(pc, module);
}

WasmModules::KnownCode* WasmModules::search_newest(Address pc, Module& module) {
  if (module.listed_generation == generation_) return nullptr;
  module.listed_generation = generation_;
  Memory& memory = heap_.memory();
  const auto codes = memory.load<CodesField>(module.codes_field);
  if (!codes || codes->new_begin > codes->new_end) return nullptr;
  const std::uint64_t count = (codes->new_end - codes->new_begin) / sizeof(std::uint64_t);
  if (count > kMaxNewCodes) return nullptr;
  std::vector<Address> objects(static_cast<std::size_t>(count));
  if (!memory.read(Address{codes->new_begin}, std::as_writable_bytes(std::span(objects)))) return nullptr;
  for (const Address object : objects) {
    if (const auto code = load_code(object, module.native)) remember(*code);
  }
  return find(pc);
}

WasmModules::KnownCode* WasmModules::remember(const Code& code) {
  KnownCode& known = codes_[code.instructions.begin];
  if (known.code != code) known = KnownCode{code, 0, {}};
  known.generation = generation_;
  return &known;
}

std::optional<WasmModules::Code> WasmModules::load_code(Address object, Address native) {
  std::string bytes(kCodeBytes, '\0');
  if (!heap_.memory().read(object, std::as_writable_bytes(std::span(bytes)))) return std::nullopt;
  if (load_at<std::uint64_t>(bytes, 0) != native.value) return std::nullopt;
  const CodeLayout layout = code_layout(heap_.layout().version);
  const auto size = [&](std::size_t index) {
    return load_at<std::uint32_t>(bytes, layout.sizes + sizeof(std::uint32_t) * index);
  };
  for (std::size_t i = 0; i < layout.number; ++i) {
    if (size(i) > kMaxPartBytes) return std::nullopt;
  }
  Code code;
  code.object = object;
  code.module = native;
  const Address begin{load_at<std::uint64_t>(bytes, sizeof(Address))};
  code.instructions = {begin, begin + size(0)};
  // Tables of jumps and what leads to imported functions have none.
  code.function = size(layout.number);
  if (begin.value == 0 || size(0) == 0 || static_cast<std::int32_t>(code.function) < 0) return std::nullopt;
  // Places that trap, relocations, source positions, inlined calls.
  const Address tables{load_at<std::uint64_t>(bytes, layout.tables)};
  const Address positions = tables + size(layout.trapping) + size(1);
  const Address inlined = positions + size(CodeLayout::kPositions);
  code.positions = {positions, inlined};
  code.inlined = {inlined, inlined + (layout.inlined ? size(*layout.inlined) : 0)};
  return code;
}

WasmModules::Module* WasmModules::module_at(Address native) {
  const auto known = modules_.find(native);
  if (known == modules_.end()) return nullptr;
  Module& module = known->second;
  if (module.generation == generation_) return &module;
  if (!heap_.memory().is_gone() && read_bytes(module.bytes_field) != module.bytes) {
    modules_.erase(known);
    return nullptr;
  }
  module.generation = generation_;
  return &module;
}

WasmModules::Module* WasmModules::module_of(TaggedWord instance) {
  if (const auto known = instances_.find(instance.value); known != instances_.end())
    return module_at(Address{known->second});
  const auto script = script_of(instance);
  const auto native = script ? native_of(*script) : std::nullopt;
  instances_.emplace(instance.value, native ? native->value : 0);
  if (!native) return nullptr;
  if (Module* known = module_at(*native)) return known;
  auto module = read_module(*native);
  const auto id = module ? scripts_.load_module(heap_, *script) : std::nullopt;
  if (!id) return nullptr;
  module->script = *id;
  module->generation = generation_;
  return &modules_.insert_or_assign(*native, std::move(*module)).first->second;
}

// Through the module object.  What a frame keeps has it itself or, since V8 12, the instance that has it.
std::optional<TaggedWord> WasmModules::script_of(TaggedWord instance) {
  const Layout& layout = heap_.layout();
  const auto find_field = [&](TaggedWord object, std::int64_t fields, auto accept) {
    for (std::int64_t i = 1; i < fields; ++i) {
      const auto field = heap_.field(object, 8 * i);
      if (!field) break;
      if (const auto found = accept(*field)) return found;
    }
    return std::optional<TaggedWord>();
  };
  const auto itself_if = [&](const Fact& type) {
    return [&](TaggedWord field) { return heap_.is(field, type) ? std::optional(field) : std::nullopt; };
  };
  const auto is_module = itself_if(layout.type_wasm_module);
  auto module = find_field(instance, kInstanceFields, is_module);
  if (!module) {
    module = find_field(instance, kInstanceFields, [&](TaggedWord field) {
      return heap_.is(field, layout.type_wasm_instance) ? find_field(field, kModuleFields, is_module)
                                                        : std::nullopt;
    });
  }
  return module ? find_field(*module, kModuleFields, itself_if(layout.type_script)) : std::nullopt;
}

// A Foreign points to a record with a shared_ptr to the module.
std::optional<Address> WasmModules::native_of(TaggedWord script) {
  const auto managed = heap_.field(script, heap_.layout().script_wasm_module);
  const auto record = managed && managed->is_object() ? heap_.field(*managed, 8) : std::nullopt;
  if (!record) return std::nullopt;
  Memory& memory = heap_.memory();
  for (std::size_t i = 0; i < kManagedWords; ++i) {
    const auto pointer = memory.load<Address>(Address{record->value} + sizeof(Address) * i);
    const auto native = pointer ? memory.load<Address>(*pointer) : std::nullopt;
    if (native && native->value != 0 && (modules_.contains(*native) || read_module(*native))) return native;
  }
  return std::nullopt;
}

std::optional<WasmModules::Module> WasmModules::read_module(Address native) {
  Memory& memory = heap_.memory();
  std::string words(kNativeWords * sizeof(std::uint64_t), '\0');
  if (!memory.read(native, std::as_writable_bytes(std::span(words)))) return std::nullopt;
  std::optional<Address> bytes_field;
  for (std::size_t at = 0; at < words.size() && !bytes_field; at += sizeof(std::uint64_t)) {
    if (read_bytes(native + at)) bytes_field = native + at;
  }
  const auto codes_field = bytes_field ? codes_field_of(native, words) : std::nullopt;
  const auto bytes = codes_field ? read_bytes(*bytes_field) : std::nullopt;
  if (!bytes) return std::nullopt;
  const bool is_read = bytes->size <= kMaxNamedBytes;
  const auto content =
      is_read ? read_bytes_of(memory, {bytes->begin, bytes->begin + bytes->size}) : std::nullopt;
  return Module{.native = native,
                .bytes_field = *bytes_field,
                .codes_field = *codes_field,
                .bytes = *bytes,
                .script = {},
                .functions = WasmFunctions::parse(content.value_or(""))};
}

// `field` points to where the bytes are and how many.
std::optional<WasmModules::Bytes> WasmModules::read_bytes(Address field) {
  Memory& memory = heap_.memory();
  const auto vector = memory.load<Address>(field);
  const auto begin = vector ? memory.load<Address>(*vector) : std::nullopt;
  const auto size = begin ? memory.load<std::uint64_t>(*vector + sizeof(Address)) : std::nullopt;
  if (!size || *size < kMagic.size() || *size > kMaxModuleBytes) return std::nullopt;
  if (read_bytes_of(memory, {*begin, *begin + kMagic.size()}) != kMagic) return std::nullopt;
  const Address end = *begin + *size;
  const auto last = read_bytes_of(memory, {end - std::min(*size, kEndBytes), end});
  return last ? std::optional(Bytes{*begin, *size, hash_bytes(*last)}) : std::nullopt;
}

// Where the tree and the list are: one of them has a code that says that it belongs to this module.
std::optional<Address> WasmModules::codes_field_of(Address native, std::string_view words) {
  Memory& memory = heap_.memory();
  for (std::size_t at = sizeof(std::uint64_t); at + sizeof(CodesField) <= words.size();
       at += sizeof(std::uint64_t)) {
    const auto codes = load_at<CodesField>(words, at);
    if (!codes.is_plausible(native.value + at - sizeof(std::uint64_t))) continue;
    const auto node = codes.root != 0 ? memory.load<TreeNode>(Address{codes.root}) : std::nullopt;
    const auto newest = codes.new_begin != codes.new_end
                            ? memory.load<std::uint64_t>(Address{codes.new_begin})
                            : std::nullopt;
    if (codes.root != 0 && (!node || memory.load<Address>(Address{node->value}) != native)) continue;
    if (codes.new_begin != codes.new_end && (!newest || memory.load<Address>(Address{*newest}) != native))
      continue;
    if (node || newest) return native + at;
  }
  return std::nullopt;
}

// As WasmFrame::Summarize in src/execution/frames.cc goes through them.
std::vector<WasmCall> WasmModules::derive_calls(const Code& code, const Module& module, Address pc,
                                                bool is_leaf) {
  Memory& memory = heap_.memory();
  const auto table = read_bytes_of(memory, code.positions);
  const auto inlined = read_bytes_of(memory, code.inlined);
  const auto code_offset = static_cast<std::int64_t>(pc - code.instructions.begin) - (is_leaf ? 0 : 1);
  const bool is_known = heap_.layout().is_known_version();
  auto position = table && is_known
                      ? find_position(*table, code_offset, position_encoding(heap_.layout().version))
                      : std::nullopt;
  std::vector<WasmCall> calls;
  const auto push = [&](std::uint32_t number) {
    WasmCall call{module.functions.name(number), module.script};
    if (const auto begin = module.functions.code_offset(number)) {
      call.function_offset = static_cast<std::int32_t>(*begin);
      if (position) call.offset = call.function_offset + std::max(position->offset(), 0);
    }
    calls.push_back(std::move(call));
  };
  bool is_left = false;  // by a tail call: it is not active any more
  for (int depth = 0; position && position->inlining_id() >= 0 && depth < kMaxInlineDepth; ++depth) {
    const std::size_t at = kInlinedBytes * static_cast<std::size_t>(position->inlining_id());
    if (!inlined || at + kInlinedBytes > inlined->size()) {
      position.reset();
      break;
    }
    if (!is_left) push(load_at<std::uint32_t>(*inlined, at));
    is_left = (*inlined)[at + 4] != 0;
    position->value = load_at<std::int64_t>(*inlined, at + 5);
  }
  if (!is_left || calls.empty()) push(code.function);
  return calls;
}

}  // namespace nodescope::v8
