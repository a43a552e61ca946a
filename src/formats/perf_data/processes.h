#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/flat_map.h"
#include "binary/address_space.h"
#include "model/profile.h"

namespace nodescope::perf {

// A number for "these addresses mean this": what was remembered under another number no longer counts.
using PlaceNumber = std::uint32_t;

struct ProcessState {
  std::int32_t pid = 0;
  AddressSpace space;
  PlaceNumber place = 0;
  bool has_jitdump = false;
  bool has_unmapped_frames = false;  // somebody may remember that an address of it means nothing
  bool in_pid_namespace = false;
  bool has_generated_code = false;
  bool has_samples = false;
  // The process of the model, once a sample needed it, and how many processes had this pid before.
  std::optional<ProcessId> model_process;
  std::uint32_t earlier_lives = 0;
};

struct ThreadState {
  ProcessState* process = nullptr;
  std::int32_t tid = 0;
  std::optional<StringId> name;

  // The thread of the model for this name, once a sample needed it.
  std::optional<ThreadId> model_thread;
  std::uint32_t model_life = 0;  // the process's earlier_lives then
  std::uint64_t last_sample_time = 0;
  // The last context that was interned, since the next sample mostly has the same one.
  std::optional<SampleContext> last_context;
  ContextId last_context_id;
};

// The processes and threads of a recording as time goes by.  Addresses of states stay valid.
class Processes {
 public:
  explicit Processes(Profile& profile) : profile_(profile) {}

  ProcessState& process(std::int32_t pid);
  ThreadState& thread(std::int32_t pid, std::int32_t tid);

  void rename(ThreadState& thread, std::string_view name);
  void exec(ProcessState& process);
  // A thread of the process of `parent`, or a new process.
  void fork(std::int32_t pid, std::int32_t tid, const ThreadState& parent, bool copies_mappings);
  AddressSpace::Change map(ProcessState& process, const MappedImage& mapped);
  // Whatever was remembered about addresses of this process no longer counts.
  void forget_places(ProcessState& process) { process.place = next_place_++; }
  PlaceNumber take_place() { return next_place_++; }

  // A process of the model has one name, the last one of its main thread: a program's name replaces that of
  // its starter.  A thread that changes its name becomes another thread of the model.
  ThreadId model_thread(ThreadState& thread);

  template <typename Visit>
  void for_each_process(Visit visit) const {
    for (const auto& [pid, process] : processes_) visit(*process);
  }

 private:
  // Forks share their mappings until one side changes them.  Only a file that is made for it forks a process
  // with many mappings over and over and changes each copy; from here on such children begin without
  // mappings.
  static constexpr std::size_t kMaxCopiedMappings = 16'000'000;

  StringId name_of(const ThreadState& thread);
  ProcessId model_process(const ThreadState& thread);

  Profile& profile_;
  FlatMap<std::uint32_t, std::unique_ptr<ProcessState>> processes_;
  FlatMap<std::uint64_t, std::unique_ptr<ThreadState>> threads_;
  PlaceNumber next_place_ = 1;
  std::size_t copied_mappings_ = 0;
};

}  // namespace nodescope::perf
