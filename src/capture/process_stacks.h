#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "binary/unwinder.h"
#include "capture/frame_builder.h"
#include "model/profile.h"
#include "v8/process_view.h"

namespace nodescope {

// What became of one stack.
struct StackSummary {
  bool complete = true;  // reaches the outermost frame, and every frame is told
  bool has_js = false;
  bool has_unknown_js = false;
};

// The stacks of one sampled process as those of a profile.
class ProcessStacks {
 public:
  enum class AsyncCallers : bool { kLeaveOut, kRead };
  ProcessStacks(pid_t pid, Profile& profile, v8::ViewCache& cache, AsyncCallers async);

  // Null while the process cannot be looked into: it has ended, or the user may not.
  const v8::ProcessView* view() const { return view_.get(); }
  ProcessId process_id() const { return process_id_; }

  // The memory may have changed since the last time.
  void begin_batch();
  // The process has another program now.
  void exec();
  // The process mapped code at `range`.
  void map(Range<Address> range);

  // The user's part of a stack: outermost frame first in the trie.
  struct Built {
    StackId stack = kEmptyStack;
    // The outermost frames as they are, where `stack` has asynchronous callers in their place.
    std::vector<FrameId> outermost;
    StackSummary summary;
  };
  // A first attempt gives nothing when a function could not be told: after other stacks of the batch were
  // read it may be.
  enum class Attempt : std::uint8_t { kFirst, kLast };
  std::optional<Built> build(const RegisterSet& registers, StackSnapshot snapshot, Attempt attempt);

  ThreadId thread(pid_t tid, const Built& built, Address stack_pointer);
  // The files that JavaScript frames named since the last call, each once.
  std::vector<StringId> take_named_files() {
    return frames_ ? frames_->take_named_files() : std::vector<StringId>();
  }
  void rename(pid_t tid) { threads_.erase(static_cast<std::uint64_t>(tid)); }

 private:
  void open();
  void refresh_map_if_due(std::uint64_t now_ns);
  std::size_t push_async_callers(const v8::Stack& stack, Built& built);
  FrameId frame_of(const v8::StackEntry& entry);
  std::string thread_name(pid_t tid, const Built& built, Address stack_pointer) const;

  pid_t pid_;
  Profile& profile_;
  v8::ViewCache& cache_;
  AsyncCallers async_;
  std::unique_ptr<v8::ProcessView> view_;
  std::optional<FrameBuilder> frames_;  // of view_
  ProcessId process_id_;
  bool map_is_stale_ = false;
  std::uint64_t map_read_ns_ = 0;
  std::uint64_t map_cost_ns_ = 0;
  FlatMap<std::uint64_t, ThreadId> threads_;  // by tid
};

}  // namespace nodescope
