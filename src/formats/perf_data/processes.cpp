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
  const ProcessState& process = *thread.process;
  if (thread.tid == process.pid && process.model_process) {
    profile_.rename_process(*process.model_process, profile_.text(*thread.name));
  }
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
  process.in_pid_namespace = parent_process.in_pid_namespace;
  if (!copies_mappings) return;  // perf's own record of a process that was there before
  process.model_process.reset();
  ++process.earlier_lives;
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

ProcessId Processes::model_process(const ThreadState& thread) {
  ProcessState& process = *thread.process;
  if (!process.model_process) {
    // A recording that begins late may not have the name of the main thread.
    const ThreadState& main = this->thread(process.pid, process.pid);
    const StringId name = name_of(main.name ? main : thread);
    process.model_process = profile_.add_process(process.pid, profile_.text(name));
  }
  return *process.model_process;
}

ThreadId Processes::model_thread(ThreadState& thread) {
  const ProcessState& process = *thread.process;
  if (thread.model_thread && thread.model_life == process.earlier_lives) return *thread.model_thread;
  thread.model_thread =
      profile_.intern_thread(model_process(thread), thread.tid, profile_.text(name_of(thread)));
  thread.model_life = process.earlier_lives;
  thread.last_context.reset();
  return *thread.model_thread;
}

}  // namespace nodescope::perf
