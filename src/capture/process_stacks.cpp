#include "capture/process_stacks.h"

#include <algorithm>
#include <chrono>
#include <ranges>

#include "base/text.h"
#include "capture/thread_names.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

// Reading the map of a process takes half a millisecond, and some programs map something all the time.
constexpr std::uint64_t kMapIntervalNs = 20'000'000;
// A map of many thousand lines takes longer, and the process cannot map anything meanwhile: looking at it may
// take this part of the time.
constexpr std::uint64_t kMapShare = 20;

// In place of asynchronous callers that could not be told.
constexpr std::string_view kAsyncCallersLost = "[asynchronous callers lost]";

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
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
  frames_.reset();
  view_ = process ? v8::ProcessView::open_any(std::move(*process), cache_, profile_.diagnostics) : nullptr;
  if (view_ != nullptr) frames_.emplace(profile_, *view_);
  const bool wants_async = async_ == AsyncCallers::kRead && view_ != nullptr && view_->layout() != nullptr;
  if (wants_async && !view_->read_async_callers())
    profile_.diagnostics.warn("asynchronous callers are not shown: the binary does not tell V8's builtins");
  map_read_ns_ = now_ns();
  map_is_stale_ = false;
  process_id_ = profile_.intern_process(pid_, to_valid_utf8(nodescope::thread_name(pid_, pid_)));
}

void ProcessStacks::exec() {
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
  frames_->forget_places();
}

FrameId ProcessStacks::frame_of(const v8::StackEntry& entry) {
  const FrameBuilder::Built built = frames_->build(entry);
  if (!built.is_mapped) map_is_stale_ = true;
  return built.frame;
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
    built.stack = profile_.stacks.push(built.stack, frames_->build(caller));
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
      const bool is_unknown = frame->kind == v8::FrameKind::kUnknownJs;
      if (is_unknown || frame->kind == v8::FrameKind::kJs) built.summary.has_js = true;
      if (is_unknown) built.summary.has_unknown_js = true;
    }
    built.stack = profile_.stacks.push(built.stack, frame_of(entry));
  }
  if (built.summary.has_unknown_js) {
    built.summary.complete = false;
    profile_.diagnostics.info("stack with a JavaScript function that could not be identified");
  }
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
