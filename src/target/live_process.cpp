#include "target/live_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "os/machine.h"
#include "os/process_memory.h"
#include "os/procfs.h"
#include "os/ptrace.h"
#include "target/container.h"
#include "target/invocation.h"

namespace nodescope {

namespace {

constexpr std::size_t kElfHeaderBytes = 64;

std::string_view without_line_end(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

Error why_unreadable(pid_t pid, const Error& error) {
  if (error.code == ErrorCode::kPermission) {
    return {ErrorCode::kPermission,
            fmt::format(
                "process {} may not be looked at: {}; run as its user or as root (sudo), or give this file "
                "CAP_SYS_PTRACE: setcap cap_sys_ptrace=ep nodescope; inside of a container it needs "
                "--cap-add SYS_PTRACE",
                pid, error.message)};
  }
  if (process_state(pid) == ProcessState::kEnded)
    return {ErrorCode::kNotFound, fmt::format("process {} has ended", pid)};
  return error;
}

RegisterSet register_set(const ThreadRegisters& from) {
  RegisterSet set;
  set.set(Register::kRax, from.rax);
  set.set(Register::kRdx, from.rdx);
  set.set(Register::kRcx, from.rcx);
  set.set(Register::kRbx, from.rbx);
  set.set(Register::kRsi, from.rsi);
  set.set(Register::kRdi, from.rdi);
  set.set(Register::kRbp, from.rbp);
  set.set(Register::kRsp, from.rsp);
  set.set(Register::kR8, from.r8);
  set.set(Register::kR9, from.r9);
  set.set(Register::kR10, from.r10);
  set.set(Register::kR11, from.r11);
  set.set(Register::kR12, from.r12);
  set.set(Register::kR13, from.r13);
  set.set(Register::kR14, from.r14);
  set.set(Register::kR15, from.r15);
  set.set(Register::kRip, from.rip);
  return set;
}

class LiveStandstill final : public Standstill {
 public:
  explicit LiveStandstill(StoppedProcess stopped) : stopped_(std::move(stopped)) {
    for (const StoppedThread& thread : stopped_.threads())
      threads_.push_back({thread.tid, register_set(thread.registers), thread.registers.fs_base});
  }

  std::span<const TargetThread> threads() const override { return threads_; }
  std::span<const pid_t> not_stopped() const override { return stopped_.not_stopped(); }
  std::uint64_t resume_ns() override { return stopped_.resume().stopped_ns; }
  bool was_cut_short() const override { return stopped_.was_cut_short(); }

 private:
  StoppedProcess stopped_;
  std::vector<TargetThread> threads_;
};

}  // namespace

std::optional<std::uint64_t> process_age_ns(pid_t pid) {
  const auto text = read_proc_file(pid, "stat");
  const auto stat = text ? parse_process_stat(*text) : std::nullopt;
  if (!stat) return std::nullopt;
  const std::uint64_t now = uptime_ns();
  return now - std::min(now, stat->start_ticks * clock_tick_ns());
}

Result<std::unique_ptr<LiveProcess>> LiveProcess::open(pid_t pid) {
  std::unique_ptr<LiveProcess> process(new LiveProcess(pid));
  const auto status = read_proc_file(pid, "status");
  if (!status) {
    if (status.error().code == ErrorCode::kNotFound)
      return fail(ErrorCode::kNotFound, fmt::format("there is no process {}", pid));
    return std::unexpected(status.error());
  }
  process->innermost_pid_ = parse_innermost_pid(*status).value_or(pid);
  if (const auto cgroup = read_proc_file(pid, "cgroup")) process->container_id_ = parse_container_id(*cgroup);
  auto executable = read_proc_link(pid, "exe");
  if (!executable) return std::unexpected(why_unreadable(pid, executable.error()));
  process->executable_ = std::move(*executable);
  if (auto refreshed = process->refresh_map(); !refreshed)
    return std::unexpected(why_unreadable(pid, refreshed.error()));
  return process;
}

Result<void> LiveProcess::refresh_map() {
  const auto text = read_proc_file(pid_, "maps");
  if (!text) return std::unexpected(text.error());
  map_ = MemoryMap::parse(*text);
  return {};
}

Result<std::unique_ptr<Standstill>> LiveProcess::stop_within(const StopOptions& options) {
  auto stopped = StoppedProcess::stop(pid_, options);
  if (!stopped) return std::unexpected(stopped.error());
  return std::make_unique<LiveStandstill>(std::move(*stopped));
}

std::string thread_name(pid_t pid, pid_t tid) {
  const auto name = read_proc_file(pid, fmt::format("task/{}/comm", tid));
  return name ? std::string(without_line_end(*name)) : std::string();
}

Result<std::unique_ptr<ByteSource>> LiveProcess::open_source(const Region& region) const {
  auto mapped =
      open_mapped_file(pid_, fmt::format("{:x}-{:x}", region.range.begin.value, region.range.end.value));
  if (mapped) return mapped;
  if (region.path == executable_) return open_executable(pid_);
  return open_in_root(pid_, region.path);
}

Result<std::unique_ptr<ByteSource>> LiveProcess::open_own_file(const std::string& path) const {
  return open_own_file_in_root(pid_, path);
}

Result<std::unique_ptr<ByteSource>> LiveProcess::open_perf_map() const {
  return open_own_file(fmt::format("/tmp/perf-{}.map", innermost_pid_));
}

Result<OwnedElf> LiveProcess::open_image(const Region& region) const {
  auto source = open_source(region);
  if (!source) return std::unexpected(source.error());
  auto elf = OwnedElf::read(std::move(*source));
  if (!elf) return fail(elf.error(), region.path);
  if (!has_mapped(region, elf->file()))
    return fail(ErrorCode::kInvalidInput, region.path + " was replaced after the process mapped it");
  return elf;
}

// The header in memory, with the places of its tables, decides.
bool LiveProcess::has_mapped(const Region& region, const ElfFile& file) const {
  for (const Region& other : map_.regions()) {
    if (other.inode != region.inode || other.device != region.device || other.offset.value != 0) continue;
    std::array<std::byte, kElfHeaderBytes> header{};
    const bool read = read_process_memory(pid_, std::array{RemoteBytes{other.range.begin.value, header}})[0];
    return !read || std::ranges::equal(header, file.bytes().first(kElfHeaderBytes));
  }
  return true;
}

std::string LiveProcess::path_of_mapped(const std::string& device, std::uint64_t inode) const {
  for (const Region& region : map_.regions()) {
    if (region.inode != inode || region.device != device) continue;
    if (region.path == executable_) return fmt::format("/proc/{}/exe", pid_);
    return fmt::format("/proc/{}/map_files/{:x}-{:x}", pid_, region.range.begin.value,
                       region.range.end.value);
  }
  return {};
}

}  // namespace nodescope
