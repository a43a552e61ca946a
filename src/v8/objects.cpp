#include "v8/objects.h"

#include "v8/strings.h"

namespace nodescope::v8 {

namespace {

constexpr std::int32_t kMaxContextLocals = 1 << 20;
constexpr std::int32_t kMaxBytecodes = 16 << 20;
constexpr std::size_t kMaxPositionBytes = std::size_t{16} << 20;

constexpr std::uint64_t kWordBytes = 8;

// Which optional parts a ScopeInfo has, by its flags.  The bits are the same in V8 9.0 to 14.6.
struct ScopeFlags {
  std::uint32_t value = 0;

  std::uint32_t scope_type() const { return value & 0xF; }
  bool has_receiver_info() const { return ((value >> 7) & 3) == 1 || ((value >> 7) & 3) == 2; }
  bool has_saved_class() const { return ((value >> 10) & 1) != 0; }
  bool has_function_variable() const { return ((value >> 12) & 3) != 0; }
  bool has_context_function_variable() const { return ((value >> 12) & 3) == 2; }
  bool has_inferred_name() const { return ((value >> 14) & 1) != 0; }
};

// Walks over the fields of a ScopeInfo, which have no fixed places (src/objects/scope-info.tq).
class ScopeFields {
 public:
  ScopeFields(Heap& heap, TaggedWord word)
      : heap_(heap), version_(heap.layout().version), next_(word.address() + kWordBytes) {
    if (version_ < Version{9, 1, 71}) next_ = next_ + kWordBytes;  // was a FixedArray, with a length
  }

  std::optional<ScopeFlags> read_flags() {
    const auto word = take();
    if (!word) return std::nullopt;
    if (has_raw_flags()) return ScopeFlags{static_cast<std::uint32_t>(word->value)};
    return ScopeFlags{static_cast<std::uint32_t>(word->value >> 32)};
  }

  // From after the flags up to the names of the variables in the context, of which there are so many.
  // Nothing: not a ScopeInfo.
  std::optional<std::uint64_t> skip_to_locals(ScopeFlags flags) {
    take();  // parameters
    const auto locals = take();
    if (!locals || !locals->is_smi() || locals->smi() < 0 || locals->smi() > kMaxContextLocals)
      return std::nullopt;
    if (has_raw_flags()) read_positions();
    const std::uint32_t module_scope = has_raw_flags() ? 5 : 3;
    if (version_ >= Version{12, 1, 0} && flags.scope_type() == module_scope) skip(1);
    return static_cast<std::uint64_t>(locals->smi());
  }

  bool has_inlined_names(std::uint64_t count) const {
    constexpr std::uint64_t kMaxInlinedNames = 75;  // more are in a hash table
    return version_ < Version{9, 8, 0} || count < kMaxInlinedNames;
  }

  // From after the flags up to the variable that holds the function's own name.  False: not a ScopeInfo.
  bool skip_to_function_variable(ScopeFlags flags) {
    const auto count = skip_to_locals(flags);
    if (!count) return false;
    skip((has_inlined_names(*count) ? *count : 1) + *count);
    if (flags.has_saved_class()) skip(1);
    if (version_ < Version{9, 8, 0} && flags.has_receiver_info()) skip(1);
    return true;
  }

  // Before V8 12.8 they come last.
  void read_positions_at_end() {
    if (!has_raw_flags()) read_positions();
  }
  std::int32_t start() const { return start_; }
  std::int32_t end() const { return end_; }

  std::optional<TaggedWord> take() {
    const auto word = heap_.word(next_);
    skip(1);
    return word;
  }
  void skip(std::uint64_t words) { next_ = next_ + words * kWordBytes; }

 private:
  void read_positions() {
    const auto start = take();
    const auto end = take();
    if (start && end && start->is_smi() && end->is_smi() && start->smi() >= 0 && start->smi() <= end->smi()) {
      start_ = start->smi();
      end_ = end->smi();
    }
  }
  bool has_raw_flags() const { return version_ >= Version{12, 8, 0}; }

  Heap& heap_;
  Version version_;
  Address next_;
  std::int32_t start_ = -1;
  std::int32_t end_ = -1;
};

// NameToIndexHashTable: three words of counts, then pairs of a name and its index.
std::vector<std::string> names_by_index(Heap& heap, TaggedWord table, std::uint64_t count) {
  constexpr std::int32_t kPrefix = 3;
  constexpr std::int64_t kElements = 16;
  std::vector<std::string> names(count);
  const std::int32_t length = heap.array_length(table).value_or(0);
  for (std::int32_t i = kPrefix; i + 1 < length; i += 2) {
    const auto name = heap.field(table, kElements + std::int64_t{8} * i);
    const auto index = heap.field(table, kElements + std::int64_t{8} * (i + 1));
    if (!name || !index) break;
    if (!index->is_smi() || index->smi() < 0 || static_cast<std::uint64_t>(index->smi()) >= count) continue;
    if (heap.is_string(*name))
      names[static_cast<std::size_t>(index->smi())] = load_name(heap, *name).value_or("");
  }
  return names;
}

std::optional<TaggedWord> script_of(Heap& heap, TaggedWord shared) {
  const Layout& layout = heap.layout();
  auto script = heap.field(shared, layout.shared_script);
  if (script && heap.is(*script, layout.type_debug_info)) {
    // A debugger is or was attached.  DebugInfo begins with SharedFunctionInfo, hints, then the script; one
    // more field came before it in some versions.
    for (const int offset : {24, 32, 16}) {
      const auto candidate = heap.field(*script, offset);
      if (candidate && heap.is(*candidate, layout.type_script)) return candidate;
    }
    return std::nullopt;
  }
  return script && heap.is(*script, layout.type_script) ? script : std::nullopt;
}

// Between a function and its bytecode there may be the data of the interpreter's copy of it and baseline
// code.
std::optional<TaggedWord> bytecode_of(Heap& heap, TaggedWord shared) {
  const Layout& layout = heap.layout();
  auto data = heap.field(shared, layout.shared_data);
  for (int step = 0; step < 4 && data; ++step) {
    const int type = heap.type(*data);
    if (layout.type_bytecode_array.is(type)) return data;
    if (layout.type_interpreter_data.is(type)) {
      const auto first = heap.field(*data, 8);
      data = first && heap.is(*first, layout.type_bytecode_array) ? first : heap.field(*data, 16);
    } else if (layout.type_code.is(type)) {
      data = heap.field(*data, layout.code_deopt);
    } else if (layout.type_baseline_data.is(type)) {
      data = heap.field(*data, 16);
    } else {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ScopeInfo> ScopeInfo::load(Heap& heap, TaggedWord word) {
  if (!heap.is(word, heap.layout().type_scope_info)) return std::nullopt;
  ScopeInfo info;
  ScopeFields fields(heap, word);
  const auto flags = fields.read_flags();
  if (!flags || !fields.skip_to_function_variable(*flags)) return std::nullopt;
  if (flags->has_function_variable()) {
    const auto name = fields.take();
    fields.skip(1);  // its index
    if (name) info.name_ = load_name(heap, *name).value_or("");
  }
  if (flags->has_inferred_name()) {
    const auto name = fields.take();
    if (name) info.inferred_name_ = load_name(heap, *name).value_or("");
  }
  fields.read_positions_at_end();
  info.start_ = fields.start();
  info.end_ = fields.end();
  return info;
}

std::optional<ContextNames> load_context_names(Heap& heap, TaggedWord scope_info) {
  if (!heap.is(scope_info, heap.layout().type_scope_info)) return std::nullopt;
  ScopeFields fields(heap, scope_info);
  const auto flags = fields.read_flags();
  const auto count = flags ? fields.skip_to_locals(*flags) : std::nullopt;
  if (!count) return std::nullopt;
  ContextNames names;
  names.has_function_variable = flags->has_context_function_variable();
  if (fields.has_inlined_names(*count)) {
    for (std::uint64_t i = 0; i < *count; ++i) {
      const auto name = fields.take();
      if (!name) return std::nullopt;
      names.locals.push_back(load_name(heap, *name).value_or(""));
    }
    return names;
  }
  const auto table = fields.take();
  if (!table) return std::nullopt;
  names.locals = names_by_index(heap, *table, *count);
  return names;
}

// The numbers of the kinds of functions, in V8 9.4 to 14.6 (src/objects/function-kind.h).
void SharedFunctionInfo::read_kind(Heap& heap) {
  const Layout& layout = heap.layout();
  if (!layout.shared_flags.known() || !layout.is_known_version()) return;
  constexpr std::uint32_t kKindMask = 31;
  constexpr std::uint32_t kFirstConstructor = 3;
  constexpr std::uint32_t kLastConstructor = 6;
  constexpr std::uint32_t kLastGetter = 8;
  constexpr std::uint32_t kLastSetter = 10;
  constexpr std::uint32_t kFirstInitializer = 24;
  const std::uint32_t first_static = layout.version < Version{14, 6, 0} ? 25 : 26;
  const auto flags = heap.memory().load<std::uint32_t>(word_.address() +
                                                       static_cast<std::uint64_t>(layout.shared_flags.value));
  const std::uint32_t kind = flags.value_or(0) & kKindMask;
  is_class_constructor_ = kind >= kFirstConstructor && kind <= kLastConstructor;
  // As each closure of an accessor says; a function that was inlined has none at hand.
  const bool is_accessor = kind > kLastConstructor && kind <= kLastSetter && !name_.empty();
  if (is_accessor) name_.insert(0, kind <= kLastGetter ? "get " : "set ");
  // Before V8 12 these names were in the function.
  if (kind >= kFirstInitializer && layout.version >= Version{12, 0, 0})
    name_ = kind < first_static ? "<instance_members_initializer>" : "<static_initializer>";
}

std::optional<SharedFunctionInfo> SharedFunctionInfo::load(Heap& heap, TaggedWord word) {
  const Layout& layout = heap.layout();
  if (!heap.is(word, layout.type_shared)) return std::nullopt;
  SharedFunctionInfo info(word);
  const auto name = heap.field(word, layout.shared_name);
  if (!name) return std::nullopt;
  if (const auto scope = ScopeInfo::load(heap, *name)) {
    info.name_ = scope->name();
    info.inferred_name_ = scope->inferred_name();
    info.start_ = scope->start();
    info.end_ = scope->end();
  } else if (heap.is_string(*name)) {
    info.name_ = load_name(heap, *name).value_or("");
  }
  info.read_kind(heap);
  info.script_ = script_of(heap, word);
  info.bytecode_ = bytecode_of(heap, word);
  return info;
}

std::optional<TaggedWord> shared_of_function(Heap& heap, TaggedWord function) {
  if (!heap.is_function(function)) return std::nullopt;
  const auto shared = heap.field(function, heap.layout().function_shared);
  return shared && heap.is(*shared, heap.layout().type_shared) ? shared : std::nullopt;
}

std::optional<BytecodeArray> BytecodeArray::load(Heap& heap, TaggedWord word) {
  const Layout& layout = heap.layout();
  if (!heap.is(word, layout.type_bytecode_array)) return std::nullopt;
  const auto length = heap.field(word, 8);
  if (!length || !length->is_smi() || length->smi() <= 0 || length->smi() > kMaxBytecodes)
    return std::nullopt;
  BytecodeArray array;
  array.bytecodes_.resize(static_cast<std::size_t>(length->smi()));
  const Address begin = word.address() + static_cast<std::uint64_t>(layout.bytecodes.value);
  if (!heap.memory().read(begin, std::as_writable_bytes(std::span(array.bytecodes_)))) return std::nullopt;
  if (const auto positions = heap.field(word, layout.bytecode_positions))
    array.positions_ = heap.load_bytes(*positions, kMaxPositionBytes).value_or("");
  return array;
}

}  // namespace nodescope::v8
