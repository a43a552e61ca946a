#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"
#include "binary/kernel_image.h"
#include "capture/collection_watch.h"
#include "capture/loop_watch.h"
#include "capture/off_cpu.h"
#include "capture/pool_work.h"
#include "capture/process_sources.h"
#include "capture/process_stacks.h"
#include "capture/source_keeper.h"
#include "formats/perf_data/event_attributes.h"
#include "formats/perf_data/sample_record.h"
#include "model/profile.h"
#include "os/file.h"
#include "os/perf_sampler.h"
#include "os/process_handle.h"
#include "v8/engine.h"

namespace nodescope {

enum class SampledTime : std::uint8_t {
  kOnCpu,
  kOffCpu,  // what threads wait for
  kBoth,
};

struct SamplingOptions {
  unsigned frequency_hz = 99;
  bool follow_children = false;
  // The texts of JavaScript files go into the profile.
  bool keep_sources = false;
  // How often the event loops of Node.js are read; nothing: never.
  std::optional<LoopWatchOptions> loops = std::nullopt;
  // Waiting needs the right to sample the kernel.
  SampledTime time = SampledTime::kOnCpu;
  // Asynchronous callers take the place of what runs microtasks.  They are looked up in the running process
  // as soon after the sample as possible.
  bool async_callers = false;
};

// Every sample is one of these: taken = complete + incomplete + lost.
struct SamplingCounts {
  std::uint64_t complete = 0;
  std::uint64_t incomplete = 0;  // in the profile, with a part of the stack missing or not told
  std::uint64_t lost = 0;        // the kernel had no room for them
  std::uint64_t with_js = 0;     // of the complete and incomplete
  std::uint64_t with_unknown_js = 0;

  std::uint64_t in_profile() const { return complete + incomplete; }
};

// Samples running processes into a profile.
class SamplingSession {
 public:
  explicit SamplingSession(const SamplingOptions& options);
  ~SamplingSession();

  // Reads what is needed to know about a process, which may take a tenth of a second, without sampling it
  // yet.
  void prepare(pid_t pid);
  // The same for a binary that a process is going to run.
  void prepare_binary(const std::string& path) { cache_.read_ahead(path); }
  // Samples a process from now on.  kNotFound when there is none.
  Result<void> attach(pid_t pid);
  // Samples a process, which is about to call exec, from there on, and all that it will start.
  Result<void> attach_before_exec(pid_t pid);

  // Adds to the profile what was sampled since the last call.  To be called every poll_milliseconds().
  void poll();
  // So often that what a collector moves can still be looked up; less often where there are few samples,
  // because each time costs as much as some of them; very often while a program starts, when all is young.
  int poll_milliseconds() const;
  // Stops, and adds what is left.
  void finish();

  // Long turns of the event loops that poll() found since the last call; each is a marker of the profile too.
  struct FoundTurn {
    LoopTurn turn;
    ThreadId thread;
  };
  std::vector<FoundTurn> take_turns() { return std::exchange(found_turns_, {}); }
  // Pauses of the collector in threads that have loops, where they can be measured; markers too.
  std::vector<Collection> take_collections() { return std::exchange(found_collections_, {}); }
  bool measures_collections(pid_t pid) const { return collections_.measures(pid); }
  // Times in which a pool of threads was full; markers too.
  std::vector<FullPool> take_full_pools() { return std::exchange(found_pools_, {}); }
  // Null where the event loops are not watched.
  LoopWatch* loops() { return loops_.get(); }

  // For those who never come to an end: forgets all samples and markers that the profile has.
  void forget_samples();

  // Samples are in the order in which they were read: those of two processors may change places.  It only
  // grows, as a writer that follows it needs.
  const Profile& profile() const { return profile_; }
  // The last call: all samples, by time.
  Profile take_profile();
  const SamplingCounts& counts() const { return counts_; }
  bool sees_kernel() const { return sampler_.sees_kernel(); }
  std::uint64_t period_ns() const { return sampler_.period_ns(); }
  // What the processes have used while they were sampled.  After finish().
  std::uint64_t cpu_ns() const { return cpu_ns_; }
  // What was attached; also before its exec.
  const std::vector<pid_t>& targets() const { return targets_; }
  // The one that was attached before its exec.
  std::optional<pid_t> command() const { return command_; }
  // Whether any of the processes is still there.
  bool has_targets() const;

 private:
  struct TimedRecord {
    std::uint64_t time = 0;
    std::span<const std::byte> bytes;
    bool is_of_switches = false;
  };

  void learn_attribute();
  Result<void> attach_switches(pid_t pid, bool before_exec);
  void look_often(std::int64_t for_ns);
  void collect(PerfSampler& sampler, const perf::EventAttributes& attributes, bool is_of_switches);
  void handle(std::span<const std::byte> record);
  void handle_switch(std::span<const std::byte> record);
  void begin_wait(std::span<const std::byte> body);
  void add_wait(const Wait& wait);
  WaitReason reason_of(StackId stack) const;
  void add_sample(std::span<const std::byte> body, ProcessStacks::Attempt attempt);
  void add_deferred();
  StackId push_kernel_frames(StackId stack, const perf::SampleRecord& sample);
  FrameId kernel_frame(Address address);
  ProcessStacks* process(pid_t pid);
  void note_facts(const ProcessStacks& process);
  void add_loss(std::span<const std::byte> body);
  void settle(const StackSummary& summary);
  void leave_out_sample();
  void forget_ended();
  void keep_sources();
  void watch_loops(const ProcessStacks& process);
  void add_turns(const std::vector<LoopTurn>& turns);
  void add_full_pools();
  void add_collections(const CollectionWatch::BuildStack& build);
  void begin_batch();
  StackId below_request(StackId stack, const perf::SampleRecord& sample, StackSnapshot snapshot);
  StackId stack_at_probe(pid_t pid, const RegisterSet& registers, StackSnapshot snapshot);
  ThreadId thread_of(const LoopThread& thread);

  SamplingOptions options_;
  PerfSampler sampler_;
  perf::EventAttributes attributes_;
  std::optional<PerfSampler> switches_;  // where waiting is sampled
  perf::EventAttributes switch_attributes_;
  WaitTracker waits_;
  Profile profile_;
  SamplingCounts counts_;
  std::uint64_t left_out_ = 0;  // of the lost: by us
  std::uint64_t cpu_ns_ = 0;
  EventId event_;

  HostFiles files_;
  DebugFileSearch search_;
  KernelImage kernel_;
  FlatMap<std::uint64_t, FrameId> kernel_frames_;  // by address

  v8::ViewCache cache_;
  std::vector<pid_t> targets_;
  std::vector<ProcessHandle> handles_;  // of the same
  std::optional<pid_t> command_;
  FlatMap<std::uint64_t, std::unique_ptr<ProcessStacks>> processes_;  // by pid
  FlatMap<std::uint32_t, std::int64_t> last_times_;  // of samples, by processor: each has one buffer
  SourceKeeper sources_;
  ProcessSources source_files_;
  std::vector<pid_t> ended_;  // main threads, whose processes may still be known
  std::vector<TimedRecord> batch_;
  // Samples of this batch with a function that is not told yet.
  std::vector<std::span<const std::byte>> deferred_;
  std::unique_ptr<LoopWatch> loops_;
  std::vector<FoundTurn> found_turns_;
  CollectionWatch collections_;
  std::vector<Collection> found_collections_;
  std::vector<FullPool> found_pools_;
  PoolWork pool_work_;  // where waiting is sampled
  bool batch_has_begun_ = false;
  std::int64_t young_until_ns_ = 0;  // a process or thread has just begun
};

}  // namespace nodescope
