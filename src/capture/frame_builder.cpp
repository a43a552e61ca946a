#include "capture/frame_builder.h"

#include <string>

#include "base/text.h"
#include "formats/symbol_name.h"
#include "model/name_marks.h"

namespace nodescope {

namespace {

constexpr std::size_t kMaxNativeFrames = 1 << 20;

FrameKind kind_of(v8::FrameKind kind) {
  switch (kind) {
    case v8::FrameKind::kJs:
    case v8::FrameKind::kUnknownJs:
      return FrameKind::kJs;
    case v8::FrameKind::kBuiltin:
      return FrameKind::kBuiltin;
    case v8::FrameKind::kRegExp:
      return FrameKind::kRegExp;
    case v8::FrameKind::kWasm:
      return FrameKind::kWasm;
  }
  return FrameKind::kUnknown;
}

JsTier tier_of(v8::Tier tier) {
  switch (tier) {
    case v8::Tier::kNone:
      return JsTier::kNone;
    case v8::Tier::kInterpreter:
      return JsTier::kInterpreted;
    case v8::Tier::kBaseline:
      return JsTier::kBaseline;
    case v8::Tier::kMaglev:
      return JsTier::kMaglev;
    case v8::Tier::kTurbofan:
      return JsTier::kTurbofan;
  }
  return JsTier::kNone;
}

}  // namespace

FrameBuilder::Built FrameBuilder::build(const v8::StackEntry& entry) {
  return std::visit([&](const auto& frame) { return build(frame); }, entry);
}

FrameBuilder::Built FrameBuilder::build(const v8::NativeFrame& native) {
  const std::uint64_t key = native.pc.value << 1 | (native.is_return_address ? 1u : 0u);
  const auto known = native_frames_.find(key);
  if (known != native_frames_.end()) {
    const bool has_name = profile_.frames[known->second].function != StringId{};
    return {.frame = known->second, .sure = has_name};
  }
  const v8::NativeSymbol symbol = view_.resolve(native, profile_.diagnostics);
  const FrameId frame = profile_.frames.intern(
      frame_of_symbol(profile_, to_valid_utf8(symbol.name), to_valid_utf8(symbol.module)));
  // Another name may be there soon.
  if (symbol.is_written) return {.frame = frame, .sure = false};
  if (native_frames_.size() >= kMaxNativeFrames) native_frames_.clear();
  native_frames_.emplace(key, frame);
  return {.frame = frame, .sure = !symbol.name.empty(), .is_mapped = !symbol.module.empty()};
}

// "RegExp:^a+$", "wasm-function[3]", if the process has noted it for perf.
std::optional<FrameId> FrameBuilder::build_by_written_name(const v8::Frame& from) {
  const bool has_kind_only =
      from.function.empty() && (from.kind == v8::FrameKind::kRegExp || from.kind == v8::FrameKind::kWasm);
  if (!has_kind_only) return std::nullopt;
  const std::string written = view_.written_name(from.pc, profile_.diagnostics);
  if (written.empty()) return std::nullopt;
  const Frame named = frame_of_symbol(profile_, to_valid_utf8(written), {});
  // "js-to-wasm:i:i", which leads into WebAssembly, is V8's own.
  const bool leads_there = from.kind == v8::FrameKind::kWasm && named.kind == FrameKind::kBuiltin;
  if (named.kind != kind_of(from.kind) && !leads_there) return std::nullopt;
  return profile_.frames.intern(named);
}

FrameBuilder::Built FrameBuilder::build(const v8::Frame& from) {
  if (const auto written = build_by_written_name(from)) return {.frame = *written, .sure = false};
  Frame frame;
  Built built{.frame = {}, .sure = from.sure};
  frame.kind = kind_of(from.kind);
  frame.tier = tier_of(from.tier);
  frame.inlined = from.inlined;
  frame.function = profile_.strings.intern(v8::display_name(from));
  if (from.script) {
    frame.file = profile_.strings.intern(view_.script_name(*from.script));
    if (frame.kind == FrameKind::kJs && named_files_.emplace(frame.file.value).second)
      new_files_.push_back(frame.file);
    if (const auto begin = view_.place(*from.script, from.function_offset)) {
      frame.function_line = begin->line;
      frame.function_column = begin->column;
    }
    const auto place = view_.place(*from.script, from.offset);
    if (place) {
      frame.line = place->line;
      frame.column = place->column;
    }
    if (place && !from.sure)
      profile_.diagnostics.info("places in optimized JavaScript that is not in a call may be some lines off");
    built.sure = from.sure && place.has_value();
  }
  built.frame = profile_.frames.intern(frame);
  return built;
}

FrameId FrameBuilder::build(const v8::AsyncCaller& caller) {
  Frame frame = profile_.frames[build(caller.frame).frame];
  const std::string_view name = profile_.text(frame.function);
  frame.function = profile_.strings.intern(std::string(kAsyncMark) + std::string(name));
  if (caller.combinator != v8::Combinator::kNone) frame.kind = FrameKind::kBuiltin;
  return profile_.frames.intern(frame);
}

}  // namespace nodescope
