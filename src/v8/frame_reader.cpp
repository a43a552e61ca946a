#include "v8/frame_reader.h"

#include <algorithm>

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

const Code* FrameReader::code_of(const PhysicalFrame& frame) {
  // A return address may lie behind the end of its function, when the call never returns.
  const Address pc = frame.is_leaf ? frame.pc : frame.pc - 1;
  if (space_.kind(pc) != CodeSpace::Kind::kGenerated) return nullptr;
  return codes_.find(pc, space_.area(pc));
}

PositionEncoding FrameReader::position_encoding() const {
  return heap_.layout().version >= Version{13, 7, 0} ? PositionEncoding::kFlags : PositionEncoding::kSigned;
}

std::int32_t FrameReader::offset_of(std::optional<SourcePosition> position) const {
  if (!position || position->is_external() || !heap_.layout().is_known_version()) return -1;
  return position->offset();
}

// `frame` is null for an inlined function.
Frame FrameReader::describe(const SharedFunctionInfo& shared, const PhysicalFrame* frame) {
  Frame result;
  result.kind = shared.script() ? FrameKind::kJs : FrameKind::kBuiltin;
  result.sure = heap_.layout().is_known_version();
  if (shared.script()) result.script = scripts_.load(heap_, *shared.script());
  Activation activation{shared, std::nullopt, std::nullopt,
                        result.script && scripts_.is_eval(*result.script)};
  if (frame != nullptr && !frame->frameless) {
    const auto function = slot(*frame, heap_.layout().frame_function);
    // The slot of optimized code may hold something else by now.
    if (function && shared_of_function(heap_, *function) == shared.word()) {
      activation.function = function;
      activation.receiver = slot(*frame, heap_.layout().frame_receiver);
    }
  }
  result.function = name_of(heap_, activation);
  return result;
}

std::vector<Frame> FrameReader::read(const PhysicalFrame& frame) {
  // Before V8 11 regular expressions have no marker in their frames.
  const Code* code = code_of(frame);
  if (code != nullptr && code->is_regexp()) return {frame_of_kind(FrameKind::kRegExp)};
  if (frame.frameless) return read_frameless(frame);
  const auto context = slot(frame, heap_.layout().frame_context);
  if (!context) return read_frameless(frame);
  if (is_marker(*context)) return read_marked(frame, context->value >> 1);
  return read_function(frame);
}

std::vector<Frame> FrameReader::read_marked(const PhysicalFrame& frame, std::uint64_t marker) {
  switch (heap_.layout().marker(marker)) {
    case Marker::kRegExp:
      return {frame_of_kind(FrameKind::kRegExp)};
    case Marker::kWasm:
      return {frame_of_kind(FrameKind::kWasm)};
    case Marker::kBuiltinExit: {
      const auto target = heap_.word(frame.frame_pointer + kBuiltinExitTarget);
      return read_builtin(frame, target);
    }
    case Marker::kOther:
      break;
  }
  if (space_.kind(frame.pc) == CodeSpace::Kind::kBuiltin) return read_builtin(frame, std::nullopt);
  return {frame_of_kind(FrameKind::kUnknownJs)};
}

std::vector<Frame> FrameReader::read_function(const PhysicalFrame& frame) {
  const Code* code = code_of(frame);
  if (code != nullptr && code->tier() == Tier::kBaseline) return read_baseline(frame, *code);
  if (code != nullptr && code->tier() != Tier::kNone) return read_optimized(frame, *code);
  if (auto interpreted = read_interpreted(frame)) return {std::move(*interpreted)};
  const bool in_builtin = space_.kind(frame.pc) == CodeSpace::Kind::kBuiltin;
  return in_builtin ? read_builtin(frame, slot(frame, heap_.layout().frame_function))
                    : std::vector{frame_of_kind(FrameKind::kUnknownJs)};
}

// Before the frame is set up, or after it was taken down.
std::vector<Frame> FrameReader::read_frameless(const PhysicalFrame& frame) {
  const Code* code = code_of(frame);
  if (code == nullptr) {
    return space_.kind(frame.pc) == CodeSpace::Kind::kBuiltin
               ? read_builtin(frame, std::nullopt)
               : std::vector{frame_of_kind(FrameKind::kUnknownJs)};
  }
  PhysicalFrame without_slots = frame;
  without_slots.frameless = true;
  if (code->tier() == Tier::kBaseline) return read_baseline(without_slots, *code);
  if (code->tier() != Tier::kNone) return read_optimized(without_slots, *code);
  return {frame_of_kind(FrameKind::kUnknownJs)};
}

// A builtin by the function that was called, and where it has none by its own name.
std::vector<Frame> FrameReader::read_builtin(const PhysicalFrame& frame, std::optional<TaggedWord> function) {
  const auto word = function ? shared_of_function(heap_, *function) : std::nullopt;
  const auto shared = word ? SharedFunctionInfo::load(heap_, *word) : std::nullopt;
  // A function with a script in a builtin's frame: its own frame is not there yet.
  if (shared && !shared->script() && !shared->name().empty())
    return {frame_of_kind(FrameKind::kBuiltin, shared->name())};
  const Address pc = frame.is_leaf ? frame.pc : frame.pc - 1;
  return {frame_of_kind(FrameKind::kBuiltin, space_.builtin_name(pc))};
}

// The function that owns `bytecode`, by the closure in the frame or, when a collector has moved that
// meanwhile, by the feedback vector.  Another function's bytecode in the slot means that the frame is not
// what it seems.
std::optional<SharedFunctionInfo> FrameReader::function_of_bytecode(const PhysicalFrame& frame,
                                                                    TaggedWord bytecode) {
  const Layout& layout = heap_.layout();
  std::optional<TaggedWord> function;
  if (!frame.frameless) {
    function = slot(frame, layout.frame_function);
  } else if (const auto rdi =
                 frame.registers == nullptr ? std::nullopt : frame.registers->get(Register::kRdi)) {
    function = TaggedWord{*rdi};  // a function that is about to be entered
  }
  if (const auto word = function ? shared_of_function(heap_, *function) : std::nullopt) {
    auto shared = SharedFunctionInfo::load(heap_, *word);
    if (shared && shared->bytecode() == bytecode) return shared;
  }
  if (frame.frameless) return std::nullopt;
  for (const int below : kFeedbackSlots) {
    const auto vector = slot(frame, Fact{layout.frame_bytecode_offset.value + below, Origin::kVersionTable});
    if (!vector || !heap_.is(*vector, layout.type_feedback_vector)) continue;
    for (int i = 1; i < kMaxFeedbackFields; ++i) {
      const auto field = heap_.field(*vector, 8 * i);
      auto shared = field ? SharedFunctionInfo::load(heap_, *field) : std::nullopt;
      if (shared && shared->bytecode() == bytecode) return shared;
    }
  }
  return std::nullopt;
}

std::optional<Frame> FrameReader::read_interpreted(const PhysicalFrame& frame) {
  const Layout& layout = heap_.layout();
  const auto bytecode = slot(frame, layout.frame_bytecode_array);
  auto offset = slot(frame, layout.frame_bytecode_offset);
  if (!bytecode || !offset || !heap_.is(*bytecode, layout.type_bytecode_array)) return std::nullopt;
  const auto shared = function_of_bytecode(frame, *bytecode);
  if (!shared) return std::nullopt;
  // The slot is written at calls; while a bytecode runs, its offset is in r9 and its array in r12.
  if (frame.registers != nullptr && frame.registers->get(Register::kR12) == bytecode->value) {
    if (const auto live = frame.registers->get(Register::kR9); live && *live <= INT32_MAX)
      offset = TaggedWord{*live << 32};
  }
  if (!offset->is_smi()) return std::nullopt;
  const auto array = BytecodeArray::load(heap_, *bytecode);
  const std::int64_t index = std::int64_t{offset->smi()} - (layout.bytecodes.value - 1);
  if (!array || index < 0 || index >= static_cast<std::int64_t>(array->bytecodes().size()))
    return std::nullopt;
  Frame result = describe(*shared, &frame);
  result.tier = Tier::kInterpreter;
  result.offset = offset_of(find_position(array->positions(), index, position_encoding()));
  return result;
}

// Baseline code knows the bytecode that it was made from; before V8 9.6 only its frame does.
TaggedWord FrameReader::baseline_bytecode(const PhysicalFrame& frame, const Code& code) {
  const Layout& layout = heap_.layout();
  if (layout.type_baseline_data.known() && !frame.frameless)
    return slot(frame, layout.frame_bytecode_array).value_or(TaggedWord{});
  const TaggedWord bytecode = code.deopt();
  if (!heap_.is(bytecode, layout.type_interpreter_data)) return bytecode;
  return heap_.field(bytecode, 8).value_or(TaggedWord{});
}

std::vector<Frame> FrameReader::read_baseline(const PhysicalFrame& frame, const Code& code) {
  const Layout& layout = heap_.layout();
  const TaggedWord bytecode = baseline_bytecode(frame, code);
  const auto array = BytecodeArray::load(heap_, bytecode);
  const auto shared = array ? function_of_bytecode(frame, bytecode) : std::nullopt;
  if (!shared) {
    Frame unknown = frame_of_kind(FrameKind::kUnknownJs);
    unknown.tier = Tier::kBaseline;
    return {unknown};
  }
  Frame result = describe(*shared, &frame);
  result.tier = Tier::kBaseline;
  const auto table = heap_.load_bytes(code.positions(), kMaxPositionBytes);
  const auto code_offset =
      static_cast<std::int64_t>(frame.pc - code.instructions().begin) + (frame.is_leaf ? 1 : 0);
  if (table && !layout.bytecode_sizes.empty()) {
    const auto index = find_baseline_bytecode(*table, code_offset, array->bytecodes(), layout.bytecode_sizes);
    if (index) result.offset = offset_of(find_position(array->positions(), *index, position_encoding()));
  }
  return {result};
}

std::vector<Frame> FrameReader::read_optimized(const PhysicalFrame& frame, const Code& code) {
  const auto deopt = DeoptData::load(heap_, code);
  const auto shared = deopt ? SharedFunctionInfo::load(heap_, deopt->shared()) : std::nullopt;
  if (!shared) {
    Frame unknown = frame_of_kind(FrameKind::kUnknownJs);
    unknown.tier = code.tier();
    return {unknown};
  }
  const auto table = heap_.load_bytes(code.positions(), kMaxPositionBytes);
  const auto code_offset =
      static_cast<std::int64_t>(frame.pc - code.instructions().begin) - (frame.is_leaf ? 0 : 1);
  auto position = table ? find_position(*table, code_offset, position_encoding()) : std::nullopt;
  std::vector<Frame> frames;
  bool complete = true;
  // Maglev often has no position for a call, so that the last one before it is found, which may be lines
  // away.
  const bool sure = code.tier() != Tier::kMaglev;
  for (int depth = 0; position && position->inlining_id() >= 0 && heap_.layout().is_known_version();
       ++depth) {
    const auto call = deopt->inlined_call(heap_, position->inlining_id());
    const auto inlined = call ? SharedFunctionInfo::load(heap_, call->shared) : std::nullopt;
    if (!inlined || depth == kMaxInlineDepth) {
      complete = false;
      break;
    }
    Frame result = describe(*inlined, nullptr);
    result.tier = code.tier();
    result.inlined = true;
    result.offset = offset_of(position);
    result.sure = result.sure && sure;
    frames.push_back(std::move(result));
    position = call->caller;
  }
  Frame result = describe(*shared, &frame);
  result.tier = code.tier();
  if (complete) result.offset = offset_of(position);
  result.sure = result.sure && complete && sure;
  frames.push_back(std::move(result));
  return frames;
}

}  // namespace nodescope::v8
