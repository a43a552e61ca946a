#include "os/stop_sampler.h"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "os/process_memory.h"
#include "os/procfs.h"
#include "os/ptrace.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPageBytes = 4096;
// A stop takes less than a millisecond; what takes longer is given up.
constexpr StopOptions kStop{.deadline = std::chrono::milliseconds(20),
                            .longest = std::chrono::milliseconds(200)};

// "4711 (node) R 1 …": the name may hold anything.
bool is_on_cpu(pid_t pid, pid_t tid) {
  const auto stat = read_proc_file(pid, fmt::format("task/{}/stat", tid));
  if (!stat) return false;
  const std::size_t name_end = stat->rfind(')');
  return name_end != std::string::npos && stat->substr(name_end, 3) == ") R";
}

std::vector<pid_t> running_threads(pid_t pid) {
  auto threads = list_threads(pid).value_or(std::vector<pid_t>());
  std::erase_if(threads, [&](pid_t tid) { return !is_on_cpu(pid, tid); });
  return threads;
}

// As much of the stack as there is, page by page: it may end before `limit`.
std::vector<std::byte> copy_stack(pid_t pid, std::uint64_t from, std::size_t limit) {
  std::vector<std::byte> stack(limit);
  std::vector<RemoteBytes> pages;
  for (std::size_t at = 0; at < limit;) {
    const std::size_t length = std::min(kPageBytes - (from + at) % kPageBytes, limit - at);
    pages.push_back({from + at, std::span(stack).subspan(at, length)});
    at += length;
  }
  const std::vector<bool> copied = read_process_memory(pid, pages);
  std::size_t size = 0;
  for (std::size_t i = 0; i < pages.size() && copied[i]; ++i) size += pages[i].into.size();
  stack.resize(size);
  return stack;
}

// A record of perf, built from its parts.
class RecordBuilder {
 public:
  RecordBuilder() : bytes_(sizeof(perf_event_header)) {}

  void word(std::uint64_t value) { append(std::as_bytes(std::span(&value, 1))); }
  void halves(std::uint32_t low, std::uint32_t high) { word(low | std::uint64_t{high} << 32); }
  void append(std::span<const std::byte> more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }

  std::vector<std::byte> finish() {
    perf_event_header header{};
    header.type = PERF_RECORD_SAMPLE;
    header.misc = PERF_RECORD_MISC_USER;
    header.size = static_cast<std::uint16_t>(bytes_.size());
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }

 private:
  std::vector<std::byte> bytes_;
};

std::uint64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// In the order of the attribute: IP, TID, TIME, CPU, REGS_USER, STACK_USER.
std::vector<std::byte> make_record(pid_t pid, const StoppedThread& thread, std::span<std::byte> stack) {
  const ThreadRegisters& r = thread.registers;
  RecordBuilder record;
  record.word(r.rip);
  record.halves(static_cast<std::uint32_t>(pid), static_cast<std::uint32_t>(thread.tid));
  record.word(monotonic_ns());
  record.halves(0, 0);  // on which CPU is not known
  record.word(PERF_SAMPLE_REGS_ABI_64);
  for (const std::uint64_t value : {r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.rsp, r.rip, r.r8, r.r9,
                                    r.r10, r.r11, r.r12, r.r13, r.r14, r.r15})
    record.word(value);
  const std::size_t whole_words = stack.size() / 8 * 8;
  record.word(whole_words);
  if (whole_words == 0) return record.finish();
  record.append(stack.first(whole_words));
  record.word(whole_words);
  return record.finish();
}

}  // namespace

struct StopSampler::Attribute : perf_event_attr {};

StopSampler::StopSampler(unsigned frequency_hz, std::uint32_t stack_bytes)
    : attribute_(std::make_unique<Attribute>()),
      period_(std::chrono::nanoseconds(1'000'000'000) / std::clamp(frequency_hz, 1u, kMaxFrequency)),
      stack_bytes_(stack_bytes),
      next_(Clock::now()) {
  Attribute& attr = *attribute_;
  attr.size = sizeof(perf_event_attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = period_ns();
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.exclude_kernel = 1;
  attr.sample_regs_user = kSampledUserRegisters;
  attr.sample_stack_user = stack_bytes;
}

StopSampler::~StopSampler() = default;

std::span<const std::byte> StopSampler::attribute() const {
  return std::as_bytes(std::span<const Attribute>(attribute_.get(), 1));
}

// The first stop says what is refused.
Result<void> StopSampler::attach(pid_t pid) {
  const auto stopped = StoppedProcess::stop(pid, kStop);
  if (!stopped) return std::unexpected(stopped.error());
  pids_.push_back(pid);
  return {};
}

Result<void> StopSampler::attach_before_exec(pid_t /*pid*/) {
  return fail(ErrorCode::kUnsupported,
              "short stops sample processes that run already: start the command, and give its pid");
}

std::span<const std::span<const std::byte>> StopSampler::collect() {
  const auto now = Clock::now();
  if (stopped_ || now < next_) return {};
  // One that was missed is not made up for.
  next_ = std::max(next_ + period_, now - period_);
  for (const pid_t pid : pids_) look_at(pid);
  for (const auto& record : bytes_) records_.emplace_back(record);
  return records_;
}

void StopSampler::look_at(pid_t pid) {
  const std::vector<pid_t> running = running_threads(pid);
  if (running.empty()) return;
  cpu_ns_ += running.size() * period_ns();
  auto stopped = StoppedProcess::stop(pid, kStop);
  const std::size_t before = bytes_.size();
  if (stopped) {
    for (const StoppedThread& thread : stopped->threads()) {
      if (!std::ranges::binary_search(running, thread.tid)) continue;
      auto stack = copy_stack(pid, thread.registers.rsp, stack_bytes_);
      bytes_.push_back(make_record(pid, thread, stack));
    }
    const Resumed resumed = stopped->resume();
    ++stops_.count;
    stops_.all_ns += resumed.stopped_ns;
    stops_.longest_ns = std::max(stops_.longest_ns, resumed.stopped_ns);
    if (resumed.was_cut_short) bytes_.resize(before);
  }
  lost_ += running.size() - (bytes_.size() - before);
}

void StopSampler::release() {
  records_.clear();
  bytes_.clear();
}

}  // namespace nodescope
