#include "capture/process_stacks.h"

#include <algorithm>
#include <chrono>
#include <ranges>

#include "base/text.h"
#include "capture/thread_names.h"
#include "formats/symbol_name.h"
#include "model/name_marks.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

// Reading the map of a process takes half a millisecond, and some programs map something all the time.
constexpr std::uint64_t kMapIntervalNs = 20'000'000;
// A map of many thousand lines takes longer, and the process cannot map anything meanwhile: looking at it may
// take this part of the time.
constexpr std::uint64_t kMapShare = 20;

constexpr std::size_t kMaxNativeFrames = 1 << 20;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

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

bool is_unknown_js(const v8::StackEntry& entry) {
  const auto* frame = std::get_if<v8::Frame>(&entry);
  return frame != nullptr && frame->kind == v8::FrameKind::kUnknownJs;
}

}  // namespace

ProcessStacks::ProcessStacks(pid_t pid, Profile& profile, v8::ViewCache& cache, AsyncCallers async)
    : pid_(pid), profile_(profile), cache_(cache), async_(async) {
  open();
}

void ProcessStacks::open() {
  auto process = LiveProcess::open(pid_);
  if (!process) profile_.diagnostics.warn("process could not be looked into", process.error().message);
  view_ = process ? v8::ProcessView::open_any(std::move(*process), cache_, profile_.diagnostics) : nullptr;
  const bool wants_async = async_ == AsyncCallers::kRead && view_ != nullptr && view_->layout() != nullptr;
  if (wants_async && !view_->read_async_callers())
    profile_.diagnostics.warn("asynchronous callers are not shown: the binary does not tell V8's builtins");
  map_read_ns_ = now_ns();
  map_is_stale_ = false;
  process_id_ = profile_.intern_process(pid_, to_valid_utf8(nodescope::thread_name(pid_, pid_)));
}

void ProcessStacks::exec() {
  native_frames_.clear();
  threads_.clear();
  open();
}

void ProcessStacks::map(Range<Address> range) {
  if (view_ == nullptr || !view_->is_known_code(range)) map_is_stale_ = true;
}

void ProcessStacks::begin_batch() {
  if (view_ == nullptr) return;
  view_->begin_generation();
}

void ProcessStacks::refresh_map_if_due(std::uint64_t now) {
  if (now - map_read_ns_ < std::max(kMapIntervalNs, kMapShare * map_cost_ns_)) return;
  // A process that has ended has no map; what is known of it stays.
  const bool is_refreshed = view_->refresh_map(profile_.diagnostics).has_value();
  map_read_ns_ = now_ns();
  map_cost_ns_ = map_read_ns_ - now;
  if (!is_refreshed) return;
  map_is_stale_ = false;
  native_frames_.clear();
}

FrameId ProcessStacks::frame_of(const v8::NativeFrame& native) {
  const std::uint64_t key = native.pc.value << 1 | (native.is_return_address ? 1u : 0u);
  const auto known = native_frames_.find(key);
  if (known != native_frames_.end()) return known->second;
  const v8::NativeSymbol symbol = view_->resolve(native, profile_.diagnostics);
  const FrameId frame = profile_.frames.intern(
      frame_of_symbol(profile_, to_valid_utf8(symbol.name), to_valid_utf8(symbol.module)));
  if (symbol.is_written) return frame;
  if (symbol.module.empty()) map_is_stale_ = true;
  if (native_frames_.size() >= kMaxNativeFrames) native_frames_.clear();
  native_frames_.emplace(key, frame);
  return frame;
}

FrameId ProcessStacks::frame_of(const v8::Frame& from) {
  Frame frame;
  if (from.function.empty() && (from.kind == v8::FrameKind::kRegExp || from.kind == v8::FrameKind::kWasm)) {
    // "RegExp:^a+$", "wasm-function[3]", if the process has noted it for perf.
    const std::string written = view_->written_name(from.pc, profile_.diagnostics);
    if (!written.empty()) {
      Frame named = frame_of_symbol(profile_, to_valid_utf8(written), {});
      // "js-to-wasm:i:i", which leads into WebAssembly, is V8's own.
      const bool leads_there = from.kind == v8::FrameKind::kWasm && named.kind == FrameKind::kBuiltin;
      if (named.kind == kind_of(from.kind) || leads_there) return profile_.frames.intern(named);
    }
  }
  frame.kind = kind_of(from.kind);
  frame.tier = tier_of(from.tier);
  frame.inlined = from.inlined;
  frame.function = profile_.strings.intern(v8::display_name(from));
  if (from.script) {
    frame.file = profile_.strings.intern(view_->script_name(*from.script));
    if (frame.kind == FrameKind::kJs && named_files_.emplace(frame.file.value).second)
      new_files_.push_back(frame.file);
    if (const auto begin = view_->place(*from.script, from.function_offset)) {
      frame.function_line = begin->line;
      frame.function_column = begin->column;
    }
    if (const auto place = view_->place(*from.script, from.offset)) {
      frame.line = place->line;
      frame.column = place->column;
      if (!from.sure)
        profile_.diagnostics.info(
            "places in optimized JavaScript that is not in a call may be some lines off");
    }
  }
  return profile_.frames.intern(frame);
}

FrameId ProcessStacks::frame_of(const v8::StackEntry& entry) {
  return std::visit([&](const auto& frame) { return frame_of(frame); }, entry);
}

// Named as V8 prints them, so that every format shows what they are.
FrameId ProcessStacks::frame_of(const v8::AsyncCaller& caller) {
  FrameId id = frame_of(caller.frame);
  Frame frame = profile_.frames[id];
  const std::string_view name = profile_.text(frame.function);
  frame.function = profile_.strings.intern(std::string(kAsyncMark) + std::string(name));
  if (caller.combinator != v8::Combinator::kNone) frame.kind = FrameKind::kBuiltin;
  return profile_.frames.intern(frame);
}

// Replaces what called the runner of microtasks by the asynchronous callers.  Gives how many of the innermost
// entries are left to be pushed.
std::size_t ProcessStacks::push_async_callers(const v8::Stack& stack, Built& built) {
  const bool has_any = stack.runner && (stack.async.lost || !stack.async.callers.empty());
  if (!has_any) return stack.entries.size();
  for (const v8::StackEntry& entry : stack.entries | std::views::reverse | std::views::take(kRoleDepth))
    built.outermost.push_back(frame_of(entry));
  built.stack = profile_.stacks.push(built.stack, frame_of(stack.entries[*stack.runner]));
  if (stack.async.lost) {
    profile_.diagnostics.info("asynchronous callers lost: they were gone when they were looked up");
    Frame lost;
    lost.function = profile_.strings.intern(kAsyncCallersLost);
    built.stack = profile_.stacks.push(built.stack, profile_.frames.intern(lost));
  }
  for (const v8::AsyncCaller& caller : stack.async.callers | std::views::reverse)
    built.stack = profile_.stacks.push(built.stack, frame_of(caller));
  return *stack.runner;
}

std::optional<ProcessStacks::Built> ProcessStacks::build(const RegisterSet& registers, StackSnapshot snapshot,
                                                         Attempt attempt) {
  Built built;
  if (view_ == nullptr) {
    built.summary.complete = false;
    return built;
  }
  if (map_is_stale_) refresh_map_if_due(now_ns());
  const v8::Stack stack = view_->read_stack(registers, snapshot);
  if (attempt == Attempt::kFirst && std::ranges::any_of(stack.entries, is_unknown_js)) return std::nullopt;
  built.summary.complete = stack.end == UnwindEnd::kRoot;
  if (stack.end == UnwindEnd::kSnapshotEnd) {
    profile_.diagnostics.info("stack deeper than the copy of it: its outer part is missing");
  } else if (stack.end != UnwindEnd::kRoot) {
    profile_.diagnostics.info("stack could not be followed to its outermost frame", to_string(stack.end));
  }
  for (std::size_t i = push_async_callers(stack, built); i-- > 0;) {
    const v8::StackEntry& entry = stack.entries[i];
    if (const auto* frame = std::get_if<v8::Frame>(&entry)) {
      built.summary.has_js = built.summary.has_js || kind_of(frame->kind) == FrameKind::kJs;
      if (frame->kind == v8::FrameKind::kUnknownJs) built.summary.has_unknown_js = true;
    }
    built.stack = profile_.stacks.push(built.stack, frame_of(entry));
  }
  if (built.summary.has_unknown_js) built.summary.complete = false;
  return built;
}

std::string ProcessStacks::thread_name(pid_t tid, const Built& built, Address stack_pointer) const {
  ThreadBegin begin;
  const std::vector<FrameId> frames =
      built.outermost.empty() ? profile_.stacks.unwind(built.stack) : built.outermost;
  for (const FrameId frame : frames | std::views::take(kRoleDepth))
    begin.functions.push_back(profile_.text(profile_.frames[frame].function));
  begin.complete = built.summary.complete;
  begin.stack_pointer = stack_pointer;
  return name_thread(pid_, tid, begin, view_.get());
}

ThreadId ProcessStacks::thread(pid_t tid, const Built& built, Address stack_pointer) {
  const auto known = threads_.find(static_cast<std::uint64_t>(tid));
  if (known != threads_.end()) return known->second;
  const ThreadId id = profile_.intern_thread(process_id_, tid, thread_name(tid, built, stack_pointer));
  threads_.emplace(static_cast<std::uint64_t>(tid), id);
  return id;
}

}  // namespace nodescope
