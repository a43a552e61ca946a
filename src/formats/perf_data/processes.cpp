#include "formats/perf_data/processes.h"

#include <fmt/format.h>

#include "base/text.h"

namespace nodescope::perf {

ProcessState& Processes::process(std::int32_t pid) {
  auto& process = processes_[static_cast<std::uint32_t>(pid)];
  if (!process) {
    process = std::make_unique<ProcessState>();
    process->pid = pid;
    process->place = next_place_++;
  }
  return *process;
}

ThreadState& Processes::thread(std::int32_t pid, std::int32_t tid) {
  const std::uint64_t key =
      std::uint64_t{static_cast<std::uint32_t>(pid)} << 32 | static_cast<std::uint32_t>(tid);
  auto& thread = threads_[key];
  if (!thread) {
    thread = std::make_unique<ThreadState>();
    thread->process = &process(pid);
    thread->tid = tid;
    // The idle task of every processor; perf never records its name.
    if (pid == 0 && tid == 0) thread->name = profile_.strings.intern("swapper");
  }
  return *thread;
}

void Processes::rename(ThreadState& thread, std::string_view name) {
  thread.name = profile_.strings.intern(is_valid_utf8(name) ? name : to_valid_utf8(name));
  thread.model_thread.reset();
  if (thread.tid == thread.process->pid) ++thread.process->name_version;
}

void Processes::exec(ProcessState& process) {
  process.space.clear();
  process.has_jitdump = false;
  forget_places(process);
}

void Processes::fork(std::int32_t pid, std::int32_t tid, const ThreadState& parent, bool copies_mappings) {
  const ProcessState& parent_process = *parent.process;
  ThreadState& child = thread(pid, tid);
  child.name = parent.name;
  child.model_thread.reset();
  if (child.process == parent.process) return;
  ProcessState& process = *child.process;
  ++process.name_version;
  process.in_pid_namespace = parent_process.in_pid_namespace;
  if (!copies_mappings) return;
  process.space = parent_process.space.fork();
  process.has_jitdump = false;
  forget_places(process);
}

AddressSpace::Change Processes::map(ProcessState& process, const MappedImage& mapped) {
  copied_mappings_ += process.space.shared_mappings();
  if (copied_mappings_ > kMaxCopiedMappings && process.space.shared_mappings() != 0) {
    profile_.diagnostics.warn("too many mappings of forked processes: not copied from the parent",
                              fmt::format("process {}", process.pid));
    process.space.clear();
  }
  const auto change = process.space.map(mapped);
  if (change == AddressSpace::Change::kReplaced ||
      (change == AddressSpace::Change::kAdded && process.has_unmapped_frames)) {
    forget_places(process);
    process.has_unmapped_frames = false;
  }
  return change;
}

StringId Processes::name_of(const ThreadState& thread) {
  return thread.name ? *thread.name : profile_.strings.intern(fmt::format(":{}", thread.tid));
}

ThreadId Processes::model_thread(ThreadState& thread) {
  ProcessState& process = *thread.process;
  if (thread.model_thread && thread.model_name_version == process.name_version) return *thread.model_thread;
  // The main thread's name is the process's; a recording that begins late may not have it.
  const ThreadState& main = this->thread(process.pid, process.pid);
  const StringId process_name = name_of(main.name ? main : thread);
  const ProcessId process_id = profile_.intern_process(process.pid, profile_.text(process_name));
  thread.model_thread = profile_.intern_thread(process_id, thread.tid, profile_.text(name_of(thread)));
  thread.model_name_version = process.name_version;
  thread.last_context.reset();
  return *thread.model_thread;
}

}  // namespace nodescope::perf
