#include "v8/frame_reader.h"

#include <algorithm>
#include <iterator>

#include "v8/positions.h"

namespace nodescope::v8 {

namespace {

// In place of a context, frames without a function have twice their type.
constexpr std::uint64_t kMarkerEnd = 128;

constexpr std::size_t kMaxPositionBytes = std::size_t{16} << 20;

// Functions inlined into one another.  V8 stops long before.
constexpr int kMaxInlineDepth = 64;

// Above the return address of a BuiltinExitFrame: new.target, then the function (since V8 8.9).
constexpr int kBuiltinExitTarget = 24;

// A FeedbackVector is next to the bytecode offset or one below, and its function among its first fields.
constexpr int kFeedbackSlots[] = {0, -8};
constexpr int kMaxFeedbackFields = 8;

// Before the first bytecode, while the function's entry is checked for interrupts; it has a position, too.
constexpr std::int64_t kFunctionEntry = -1;

// Has no frame of its own, that is still the function's which is left.
constexpr std::string_view kDeoptimizer = "DeoptimizationEntry";

constexpr std::size_t kMaxPlaces = 1 << 16;

// Map, length, constants, handlers and positions; behind them is an age that changes.
constexpr std::size_t kBytecodeIdentityBytes = 40;

template <typename Map>
void bound(Map& map) {
  if (map.size() >= kMaxPlaces) map.clear();
}

// That there is none is not remembered: V8 makes positions only when it needs them, and a collector may just
// be moving them.
template <typename Map, typename Derive>
std::int32_t remembered_offset(Map& map, const typename Map::key_type& key, Derive derive) {
  if (const auto known = map.find(key); known != map.end()) return known->second;
  const std::int32_t offset = derive();
  if (offset < 0) return offset;
  bound(map);
  map.emplace(key, offset);
  return offset;
}

bool is_marker(TaggedWord word) {
  return (word.value & 1) == 0 && word.value < kMarkerEnd;
}

Frame frame_of_kind(FrameKind kind, std::string name = {}) {
  Frame frame;
  frame.kind = kind;
  frame.function = std::move(name);
  frame.sure = kind != FrameKind::kUnknownJs;
  return frame;
}

Frame unknown_function(Tier tier) {
  Frame frame = frame_of_kind(FrameKind::kUnknownJs);
  frame.tier = tier;
  return frame;
}

// While a collector moves a script or its positions they cannot be read: that is not remembered.
bool has_place(const Frame& frame) {
  return frame.kind != FrameKind::kJs || (frame.script && frame.offset >= 0);
}

// Only where it is in the function: code that V8 added has the position of whatever came before.
std::int32_t within(const SharedFunctionInfo& shared, std::int32_t offset) {
  const bool has_extent = shared.start() >= 0 && shared.end() > shared.start();
  return has_extent && (offset < shared.start() || offset >= shared.end()) ? -1 : offset;
}

}  // namespace

std::string_view to_string(FrameKind kind) {
  switch (kind) {
    case FrameKind::kJs:
    case FrameKind::kUnknownJs:
      return "js";
    case FrameKind::kBuiltin:
      return "builtin";
    case FrameKind::kRegExp:
      return "regexp";
    case FrameKind::kWasm:
      return "wasm";
  }
  return "js";
}

std::string display_name(const Frame& frame) {
  if (frame.kind == FrameKind::kUnknownJs) return "[unknown js]";
  if (!frame.function.empty() || frame.kind == FrameKind::kJs) return frame.function;
  return "[" + std::string(to_string(frame.kind)) + "]";
}

// What lies below the stack pointer is left over from earlier calls.
std::optional<TaggedWord> FrameReader::slot(const PhysicalFrame& frame, const Fact& offset) {
  if (!offset.known()) return std::nullopt;
  const Address place = frame.frame_pointer + static_cast<std::uint64_t>(std::int64_t{offset.value});
  if (frame.registers != nullptr) {
    const auto stack_pointer = frame.registers->get(Register::kRsp);
    if (!stack_pointer || place.value < *stack_pointer) return std::nullopt;
  }
  return heap_.word(place);
}

const CodeFinder::Found* FrameReader::code_of(const PhysicalFrame& frame) {
  // A return address may lie behind the end of its function, when the call never returns.
  const Address pc = frame.is_leaf ? frame.pc : frame.pc - 1;
  if (space_.kind(pc) != CodeSpace::Kind::kGenerated) return nullptr;
  return codes_.find(pc, space_.area(pc));
}

void FrameReader::begin_generation() {
  codes_.begin_generation();
  functions_.begin_generation();
  script_functions_.begin_generation();
  regexps_.begin_generation();
  wasm_modules_.begin_generation();
  bytecodes_.begin_generation();
}

PositionEncoding FrameReader::position_encoding() const {
  return v8::position_encoding(heap_.layout().version);
}

std::int32_t FrameReader::offset_of(std::optional<SourcePosition> position) const {
  if (!position || position->is_external() || !heap_.layout().is_known_version()) return -1;
  return position->offset();
}

// The closure in the frame, if it is one of this function: the slot of optimized code may hold something
// else by now, and a collector may have moved the closure.
std::optional<Closure> FrameReader::closure_of(const PhysicalFrame& frame, TaggedWord shared) {
  if (frame.frameless) return std::nullopt;
  const auto function_then = slot(frame, heap_.layout().frame_function);
  if (!function_then) return std::nullopt;
  const TaggedWord function = heap_.moved(*function_then);
  if (shared_of_function(heap_, function) != shared) return std::nullopt;
  const auto receiver_then = slot(frame, heap_.layout().frame_receiver);
  Closure closure{.function = function, .receiver = receiver_then};
  if (receiver_then) closure.receiver = heap_.moved(*receiver_then);
  if (frame.stands_still) return closure;
  closure.function_then = function_then;
  closure.receiver_then = receiver_then;
  return closure;
}

Frame FrameReader::describe(Function& function, const std::optional<Closure>& closure) {
  Frame result;
  result.kind = function.shared.script() ? FrameKind::kJs : FrameKind::kBuiltin;
  result.sure = heap_.layout().is_known_version();
  result.script = function.script;
  result.shared = function.shared.word();
  if (function.shared.script()) script_functions_.note(*function.shared.script());
  result.function_offset = heap_.layout().is_known_version() ? function.shared.start() : -1;
  result.function = functions_.name(function, closure);
  return result;
}

// Optimized code refers to the closures that it has inlined: where there are several, which is which is not
// told.
Frame FrameReader::describe_inlined(Function& function, const DeoptData* deopt) {
  const auto closures =
      deopt != nullptr ? deopt->closures_of(heap_, function.shared.word()) : std::vector<TaggedWord>();
  for (const TaggedWord closure : closures) functions_.name(function, Closure{.function = closure});
  const bool only = closures.size() == 1;
  return describe(function, only ? std::optional(Closure{.function = closures[0]}) : std::nullopt);
}

std::vector<Frame> FrameReader::read(const PhysicalFrame& frame) {
  // Before V8 11 regular expressions have no marker in their frames.
  const CodeFinder::Found* found = code_of(frame);
  if (found != nullptr && found->code.is_regexp())
    return {frame_of_kind(FrameKind::kRegExp, regexps_.pattern(*found, frame.frame_pointer))};
  if (found != nullptr && found->code.is_builtin()) return read_builtin_copy(frame);
  if (found != nullptr && !found->code.wrapper().empty())
    return {frame_of_kind(FrameKind::kBuiltin, std::string(found->code.wrapper()))};
  if (frame.frameless) return read_frameless(frame);
  const auto context = slot(frame, heap_.layout().frame_context);
  if (!context) return read_frameless(frame);
  if (is_marker(*context)) return read_marked(frame, context->value >> 1);
  return read_function(frame);
}

// With --interpreted-frames-native-stack each function has a copy of the builtin that enters the interpreter.
std::vector<Frame> FrameReader::read_builtin_copy(const PhysicalFrame& frame) {
  const auto context = frame.frameless ? std::nullopt : slot(frame, heap_.layout().frame_context);
  auto interpreted = context && !is_marker(*context) ? read_interpreted(frame) : std::nullopt;
  return {interpreted ? std::move(*interpreted) : frame_of_kind(FrameKind::kBuiltin)};
}

std::vector<Frame> FrameReader::read_marked(const PhysicalFrame& frame, std::uint64_t marker) {
  const bool in_builtin = space_.kind(frame.is_leaf ? frame.pc : frame.pc - 1) == CodeSpace::Kind::kBuiltin;
  const Marker marked = heap_.layout().marker(marker);
  switch (marked) {
    case Marker::kRegExp:
      return {frame_of_kind(FrameKind::kRegExp)};
    // Builtins lead into WebAssembly and out of it, too.
    case Marker::kWasm:
      if (in_builtin) break;
      note_wasm_area(frame);
      return read_wasm(frame, slot(frame, heap_.layout().frame_function));
    case Marker::kJsToWasm:
    case Marker::kWasmToJs:
      if (in_builtin) break;
      note_wasm_area(frame);
      return {frame_of_kind(FrameKind::kBuiltin, marked == Marker::kJsToWasm ? "js-to-wasm" : "wasm-to-js")};
    case Marker::kBuiltinExit: {
      const auto target = heap_.word(frame.frame_pointer + kBuiltinExitTarget);
      return read_builtin(frame, target);
    }
    case Marker::kOther:
      break;
  }
  return in_builtin ? read_builtin(frame, std::nullopt) : read_unknown_code(frame);
}

std::vector<Frame> FrameReader::read_function(const PhysicalFrame& frame) {
  const CodeFinder::Found* found = code_of(frame);
  const Tier tier = found == nullptr ? Tier::kNone : found->code.tier();
  if (tier == Tier::kBaseline) return read_baseline(frame, *found);
  if (tier != Tier::kNone) return read_optimized(frame, *found);
  if (auto interpreted = read_interpreted(frame)) return {std::move(*interpreted)};
  const bool in_builtin = space_.kind(frame.pc) == CodeSpace::Kind::kBuiltin;
  // Where the interpreter has called something a function runs, also when its worker has ended meanwhile and
  // its bytecode is gone.
  if (in_builtin && frame.registers == nullptr && code_use(frame) == CodeUse::kRunsBytecode)
    return {unknown_function(Tier::kInterpreter)};
  return in_builtin ? read_builtin(frame, slot(frame, heap_.layout().frame_function))
                    : read_unknown_code(frame);
}

void FrameReader::note_wasm_area(const PhysicalFrame& frame) {
  if (code_of(frame) != nullptr) return;
  bound(wasm_areas_);
  wasm_areas_.emplace(space_.area(frame.is_leaf ? frame.pc : frame.pc - 1).begin.value, true);
}

// `instance` is what the frame keeps beside its marker, if it is there yet.
std::vector<Frame> FrameReader::read_wasm(const PhysicalFrame& frame, std::optional<TaggedWord> instance) {
  std::vector<Frame> frames;
  for (const WasmCall& call : wasm_modules_.calls(frame.pc, frame.is_leaf, instance)) {
    Frame result = frame_of_kind(FrameKind::kWasm, call.function);
    result.script = call.script;
    result.offset = call.offset;
    result.function_offset = call.function_offset;
    result.inlined = true;
    result.sure = !frame.is_leaf && heap_.layout().is_known_version();
    frames.push_back(std::move(result));
  }
  if (frames.empty()) return {frame_of_kind(FrameKind::kWasm)};
  frames.back().inlined = false;
  return frames;
}

// Machine code of WebAssembly is no object of V8's heap: where it lies was seen in frames that say what they
// are.
std::vector<Frame> FrameReader::read_unknown_code(const PhysicalFrame& frame) {
  const Range<Address> area = space_.area(frame.is_leaf ? frame.pc : frame.pc - 1);
  const bool is_wasm = code_of(frame) == nullptr && wasm_areas_.contains(area.begin.value);
  if (is_wasm) return read_wasm(frame, std::nullopt);
  return {frame_of_kind(FrameKind::kUnknownJs)};
}

// Before the frame is set up, or after it was taken down.
std::vector<Frame> FrameReader::read_frameless(const PhysicalFrame& frame) {
  const CodeFinder::Found* found = code_of(frame);
  if (found == nullptr) {
    return space_.kind(frame.pc) == CodeSpace::Kind::kBuiltin ? read_builtin(frame, std::nullopt)
                                                              : read_unknown_code(frame);
  }
  PhysicalFrame without_slots = frame;
  without_slots.frameless = true;
  const Tier tier = found->code.tier();
  if (tier == Tier::kBaseline) return read_baseline(without_slots, *found);
  if (tier != Tier::kNone) return read_optimized(without_slots, *found);
  return {frame_of_kind(FrameKind::kUnknownJs)};
}

// A builtin by the function that was called, and where it has none by its own name.
std::vector<Frame> FrameReader::read_builtin(const PhysicalFrame& frame, std::optional<TaggedWord> function) {
  const auto word = function ? shared_of_function(heap_, *function) : std::nullopt;
  Function* called = word ? functions_.find(*word) : nullptr;
  // A function with a script in a builtin's frame: its own frame is not there yet.
  if (called != nullptr && !called->shared.script() && !called->shared.name().empty())
    return {frame_of_kind(FrameKind::kBuiltin, called->shared.name())};
  const Address pc = frame.is_leaf ? frame.pc : frame.pc - 1;
  std::vector<Frame> frames{frame_of_kind(FrameKind::kBuiltin, space_.builtin_name(pc))};
  if (called != nullptr && called->shared.script() && frames[0].function.starts_with(kDeoptimizer))
    frames.push_back(describe_left(*called, closure_of(frame, *word)));
  return frames;
}

// A function whose optimized code is being left has no place any more and not yet another one.
Frame FrameReader::describe_left(Function& function, const std::optional<Closure>& closure) {
  Frame left = describe(function, closure);
  left.sure = false;
  return left;
}

FrameReader::Bytecode* FrameReader::find_bytecode(TaggedWord word) {
  if (!word.is_object()) return nullptr;
  return bytecodes_.find(heap_.memory(), word.address(), kBytecodeIdentityBytes,
                         [&]() -> std::optional<Bytecode> {
                           auto array = BytecodeArray::load(heap_, word);
                           if (!array) return std::nullopt;
                           return Bytecode{std::move(*array), next_bytecode_id_++, {}};
                         });
}

// The function `shared` if this bytecode is its.
Function* FrameReader::owner_of(TaggedWord shared, TaggedWord bytecode) {
  Function* function = functions_.find(shared);
  return function != nullptr && function->shared.bytecode() == bytecode ? function : nullptr;
}

// The interpreter's own code is its bytecode handlers and what enters them.  Where builtins have no names, a
// place is the interpreter's once a frame there was proven to be one.
FrameReader::CodeUse FrameReader::code_use(const PhysicalFrame& frame) {
  if (code_of(frame) != nullptr) return CodeUse::kRunsBytecode;  // baseline code
  const Address pc = frame.is_leaf ? frame.pc : frame.pc - 1;
  const auto known = code_uses_.find(pc.value);
  if (known != code_uses_.end()) return known->second;
  const std::string name = space_.builtin_name(pc);
  if (name.empty()) return CodeUse::kNotKnown;
  const bool runs = name.ends_with("Handler") || name.starts_with("InterpreterEntryTrampoline");
  bound(code_uses_);
  return code_uses_.emplace(pc.value, runs ? CodeUse::kRunsBytecode : CodeUse::kOther).first->second;
}

// The function that owns the bytecode.  Other builtins may keep anything in the slot, a bytecode too: there
// only a closure or feedback of the same function proves it.
Function* FrameReader::function_of_bytecode(const PhysicalFrame& frame, TaggedWord word, Bytecode& bytecode) {
  const CodeUse use = code_use(frame);
  Function* function = use == CodeUse::kRunsBytecode ? owner_of(bytecode.owner, word) : nullptr;
  if (function == nullptr) function = search_function(frame, word);
  if (function == nullptr && use == CodeUse::kRunsBytecode) {
    script_functions_.note_script_of(word);
    if (const auto listed = script_functions_.find(word)) function = owner_of(*listed, word);
  }
  if (function == nullptr) return nullptr;
  bytecode.owner = function->shared.word();
  if (use == CodeUse::kNotKnown) {
    const Address pc = frame.is_leaf ? frame.pc : frame.pc - 1;
    bound(code_uses_);
    code_uses_.emplace(pc.value, CodeUse::kRunsBytecode);
  }
  return function;
}

// By the closure in the frame or, when a collector has moved that meanwhile, by the feedback vector.
Function* FrameReader::search_function(const PhysicalFrame& frame, TaggedWord bytecode) {
  const Layout& layout = heap_.layout();
  const auto owner_of_closure = [&](TaggedWord closure) -> Function* {
    const auto shared = shared_of_function(heap_, heap_.moved(closure));
    return shared ? owner_of(*shared, bytecode) : nullptr;
  };
  const auto closure = frame.frameless ? std::nullopt : slot(frame, layout.frame_function);
  if (closure) {
    if (Function* function = owner_of_closure(*closure)) return function;
  }
  // A function that is being entered: its frame may be there without its slots.
  if (const auto rdi = frame.registers == nullptr ? std::nullopt : frame.registers->get(Register::kRdi)) {
    if (Function* function = owner_of_closure(TaggedWord{*rdi})) return function;
  }
  if (frame.frameless) return nullptr;
  for (const int below : kFeedbackSlots) {
    auto vector = slot(frame, Fact{layout.frame_bytecode_offset.value + below, Origin::kVersionTable});
    if (!vector) continue;
    vector = heap_.moved(*vector);
    if (!heap_.is(*vector, layout.type_feedback_vector)) continue;
    for (int i = 1; i < kMaxFeedbackFields; ++i) {
      const auto field = heap_.field(*vector, 8 * i);
      if (!field || !heap_.is(*field, layout.type_shared)) continue;
      if (Function* function = owner_of(*field, bytecode)) return function;
    }
  }
  return nullptr;
}

std::int32_t FrameReader::bytecode_position(const Bytecode& bytecode, std::int64_t index) {
  const PlaceKey key{bytecode.id, static_cast<std::uint64_t>(index)};
  return remembered_offset(bytecode_offsets_, key, [&] {
    return offset_of(find_position(bytecode.array.positions(), index, position_encoding()));
  });
}

std::optional<Frame> FrameReader::read_interpreted(const PhysicalFrame& frame) {
  const Layout& layout = heap_.layout();
  const auto word = slot(frame, layout.frame_bytecode_array);
  auto offset = slot(frame, layout.frame_bytecode_offset);
  Bytecode* bytecode = word && offset ? find_bytecode(*word) : nullptr;
  if (bytecode == nullptr) return std::nullopt;
  // The slot is written at calls; while a bytecode runs, its offset is in r9 and its array in r12.
  if (frame.registers != nullptr && frame.registers->get(Register::kR12) == word->value) {
    if (const auto live = frame.registers->get(Register::kR9); live && *live <= INT32_MAX)
      offset = TaggedWord{*live << 32};
  }
  if (!offset->is_smi()) return std::nullopt;
  const std::int64_t index = std::int64_t{offset->smi()} - (layout.bytecodes.value - 1);
  if (index < kFunctionEntry || index >= static_cast<std::int64_t>(bytecode->array.bytecodes().size()))
    return std::nullopt;
  Function* function = function_of_bytecode(frame, *word, *bytecode);
  if (function == nullptr) {
    // It looks like a function that is interpreted, but which one cannot be told any more.
    if (code_use(frame) == CodeUse::kOther) return std::nullopt;
    return unknown_function(Tier::kInterpreter);
  }
  Frame result = describe(*function, closure_of(frame, function->shared.word()));
  result.tier = Tier::kInterpreter;
  result.offset = bytecode_position(*bytecode, index);
  return result;
}

// Of the function that is being entered, whose closure is in rdi, if this is its baseline code.
TaggedWord FrameReader::entered_bytecode(const PhysicalFrame& frame, const Code& code) {
  const Layout& layout = heap_.layout();
  const auto rdi = frame.registers == nullptr ? std::nullopt : frame.registers->get(Register::kRdi);
  const auto shared = rdi ? shared_of_function(heap_, heap_.moved(TaggedWord{*rdi})) : std::nullopt;
  const auto data = shared ? heap_.field(*shared, layout.shared_data) : std::nullopt;
  if (!data || !heap_.is(*data, layout.type_baseline_data)) return {};
  const bool is_its_code = heap_.field(*data, 8) == TaggedWord{code.header().value + 1};
  const Function* function = is_its_code ? functions_.find(*shared) : nullptr;
  return function == nullptr ? TaggedWord{} : function->shared.bytecode().value_or(TaggedWord{});
}

// Baseline code knows the bytecode that it was made from; before V8 9.6 only its frame and its closure do.
TaggedWord FrameReader::baseline_bytecode(const PhysicalFrame& frame, const Code& code) {
  const Layout& layout = heap_.layout();
  if (layout.type_baseline_data.known()) {
    return frame.frameless ? entered_bytecode(frame, code)
                           : slot(frame, layout.frame_bytecode_array).value_or(TaggedWord{});
  }
  const TaggedWord bytecode = code.deopt();
  if (!heap_.is(bytecode, layout.type_interpreter_data)) return bytecode;
  return heap_.field(bytecode, 8).value_or(TaggedWord{});
}

// Where in the bytecode; -1: not known.
std::int32_t FrameReader::derive_baseline_offset(const PhysicalFrame& frame, const Code& code,
                                                 const BytecodeArray& array) {
  const std::string& sizes = heap_.layout().bytecode_sizes;
  const auto table = sizes.empty() ? std::nullopt : heap_.load_bytes(code.positions(), kMaxPositionBytes);
  if (!table) return -1;
  const auto code_offset =
      static_cast<std::int64_t>(frame.pc - code.instructions().begin) + (frame.is_leaf ? 1 : 0);
  return find_baseline_bytecode(*table, code_offset, array.bytecodes(), sizes).value_or(-1);
}

std::vector<Frame> FrameReader::read_baseline(const PhysicalFrame& frame, const CodeFinder::Found& found) {
  const TaggedWord word = baseline_bytecode(frame, found.code);
  Bytecode* bytecode = find_bytecode(word);
  Function* function = bytecode == nullptr ? nullptr : function_of_bytecode(frame, word, *bytecode);
  if (function == nullptr) {
    return {unknown_function(Tier::kBaseline)};
  }
  Frame result = describe(*function, closure_of(frame, function->shared.word()));
  result.tier = Tier::kBaseline;
  const PlaceKey key{found.id.index(), frame.pc.value << 1 | (frame.is_leaf ? 1u : 0u)};
  const std::int32_t index = remembered_offset(
      baseline_offsets_, key, [&] { return derive_baseline_offset(frame, found.code, bytecode->array); });
  if (index >= 0) result.offset = bytecode_position(*bytecode, index);
  return {result};
}

std::vector<Frame> FrameReader::read_optimized(const PhysicalFrame& frame, const CodeFinder::Found& found) {
  const PlaceKey key{found.id.index(), frame.pc.value << 1 | (frame.is_leaf ? 1u : 0u)};
  const auto known = optimized_.find(key);
  std::vector<Frame> frames = known != optimized_.end() ? known->second : derive_optimized(frame, found.code);
  Frame& outermost = frames.back();
  if (outermost.kind == FrameKind::kUnknownJs) return frames;
  if (known == optimized_.end() && std::ranges::all_of(frames, has_place)) {
    bound(optimized_);
    optimized_.emplace(key, frames);
  }
  if (Function* function = functions_.find(outermost.shared))
    outermost.function = functions_.name(*function, closure_of(frame, outermost.shared));
  return frames;
}

// By what the code keeps for being left at a call, as V8's own stack traces are made; empty when it keeps
// nothing there.
std::vector<Frame> FrameReader::derive_translated(const PhysicalFrame& frame, const Code& code,
                                                  const DeoptData& deopt) {
  const auto active = frame.is_leaf ? std::nullopt : deopt.active_frames(heap_, code, frame.pc);
  if (!active) return {};
  std::vector<Frame> frames;
  for (auto one = active->rbegin(); one != active->rend(); ++one) {
    const bool outermost = std::next(one) == active->rend();
    const auto shared = deopt.shared_literal(heap_, one->literal);
    Function* function = shared ? functions_.find(*shared) : nullptr;
    // The outermost is the function that the code belongs to, or this is no record of it.
    if (function == nullptr || (outermost && (one->is_builtin || *shared != deopt.shared()))) return {};
    Frame result = one->is_builtin ? frame_of_kind(FrameKind::kBuiltin, function->shared.name())
                                   : describe_inlined(*function, &deopt);
    result.tier = code.tier();
    result.inlined = !outermost;
    const Bytecode* bytecode = one->is_builtin || !function->shared.bytecode()
                                   ? nullptr
                                   : find_bytecode(*function->shared.bytecode());
    if (bytecode != nullptr) result.offset = bytecode_position(*bytecode, one->bytecode_offset);
    frames.push_back(std::move(result));
  }
  return frames;
}

// Code that was given up on, and code that is never left early, keeps nothing about its function.  The
// closure in the frame tells it, if the place in the code is within that function's source.
Function* FrameReader::function_of_code(const PhysicalFrame& frame, std::optional<SourcePosition> position) {
  if (frame.frameless || !position || position->inlining_id() >= 0) return nullptr;
  const auto closure = slot(frame, heap_.layout().frame_function);
  const auto shared = closure ? shared_of_function(heap_, heap_.moved(*closure)) : std::nullopt;
  Function* function = shared ? functions_.find(*shared) : nullptr;
  if (function == nullptr || function->shared.start() < 0) return nullptr;
  return within(function->shared, offset_of(position)) >= 0 ? function : nullptr;
}

// All but what the closure in the frame tells.
std::vector<Frame> FrameReader::derive_optimized(const PhysicalFrame& frame, const Code& code) {
  const auto deopt = DeoptData::load(heap_, code);
  const auto table = heap_.load_bytes(code.positions(), kMaxPositionBytes);
  const auto code_offset =
      static_cast<std::int64_t>(frame.pc - code.instructions().begin) - (frame.is_leaf ? 0 : 1);
  auto position = table ? find_position(*table, code_offset, position_encoding()) : std::nullopt;
  Function* function = deopt ? functions_.find(deopt->shared()) : function_of_code(frame, position);
  if (function == nullptr) {
    return {unknown_function(code.tier())};
  }
  if (deopt) {
    if (auto translated = derive_translated(frame, code, *deopt); !translated.empty()) return translated;
  }
  // Machine code without a position of its own goes by the last one before it, which may be lines away or in
  // another function that was inlined.
  std::vector<Frame> frames;
  bool complete = true;
  for (int depth = 0; position && position->inlining_id() >= 0 && heap_.layout().is_known_version();
       ++depth) {
    const auto call = deopt ? deopt->inlined_call(heap_, position->inlining_id()) : std::nullopt;
    Function* inlined = call ? functions_.find(call->shared) : nullptr;
    if (inlined == nullptr || depth == kMaxInlineDepth) {
      complete = false;
      break;
    }
    Frame result = describe_inlined(*inlined, deopt ? &*deopt : nullptr);
    result.tier = code.tier();
    result.inlined = true;
    result.offset = within(inlined->shared, offset_of(position));
    result.sure = false;
    frames.push_back(std::move(result));
    position = call->caller;
  }
  Frame result = describe(*function, std::nullopt);
  result.tier = code.tier();
  if (complete) result.offset = within(function->shared, offset_of(position));
  result.sure = false;
  frames.push_back(std::move(result));
  return frames;
}

}  // namespace nodescope::v8
