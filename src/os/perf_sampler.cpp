#include "os/perf_sampler.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/text.h"
#include "os/privileges.h"
#include "os/procfs.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

// A ring holds a quarter of a second: the reader comes every 25 or 50 ms, and may be late when the machine is
// busy.
constexpr unsigned kRingsPerSecond = 4;
constexpr std::size_t kMinRingBytes = std::size_t{64} << 10;
constexpr std::size_t kUsualRingBytes = std::size_t{512} << 10;
constexpr std::size_t kMaxRingBytes = std::size_t{16} << 20;

// Threads that start while events are opened for the others: each round finds fewer.
constexpr int kMaxRounds = 16;

std::size_t ring_bytes(const PerfSamplerOptions& options) {
  const std::size_t needed = std::size_t{options.frequency_hz} * options.stack_bytes / kRingsPerSecond;
  return std::clamp(std::bit_ceil(needed), kUsualRingBytes, kMaxRingBytes);
}

// "0-3,8", as the kernel lists processors.
std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr int kMaxCpu = 65536;
  std::vector<int> cpus;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find_first_of(",\n"));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const auto first = parse_number<int>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number<int>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= kMaxCpu) continue;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> online_cpus() {
  if (auto source = open_file("/sys/devices/system/cpu/online")) {
    std::string storage;
    const auto bytes = read_whole(**source, storage, 1 << 16);
    if (bytes) {
      auto cpus = parse_cpu_list(as_text(*bytes));
      if (!cpus.empty()) return cpus;
    }
  }
  std::vector<int> cpus(static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))));
  for (std::size_t i = 0; i < cpus.size(); ++i) cpus[i] = static_cast<int>(i);
  return cpus;
}

// Two hundred processes with a dozen threads on many cores need more descriptors than a shell gives.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string paranoid_level() {
  auto source = open_file("/proc/sys/kernel/perf_event_paranoid");
  if (!source) return "not readable";
  std::string storage;
  const auto bytes = read_whole(**source, storage, 64);
  std::string text(bytes ? as_text(*bytes) : "");
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// What a process's own user needs.
std::string owner_remedy() {
  const std::string level = paranoid_level();
  const auto number = parse_number<int>(level);
  if (number && *number <= 2)
    return fmt::format("Its own user may: kernel.perf_event_paranoid is {}, which is enough", level);
  return fmt::format("Its own user may after 'sysctl kernel.perf_event_paranoid=2' (it is {})", level);
}

Error refusal(int number, pid_t tid) {
  if (perf_is_filtered()) {
    return {
        ErrorCode::kPermission,
        "a seccomp filter blocks perf_event_open (the default profile of Docker does)\n"
        "  Start the container with --cap-add PERFMON --cap-add SYS_PTRACE --security-opt "
        "seccomp=unconfined, or with a profile that allows perf_event_open; or run nodescope on the host"};
  }
  switch (number) {
    case EACCES:
    case EPERM:
      return {ErrorCode::kPermission,
              fmt::format("the kernel refuses to sample thread {}: {}\n"
                          "  {}\n"
                          "  For processes of others run as root (sudo), or give this file CAP_PERFMON and "
                          "CAP_SYS_PTRACE: setcap cap_perfmon,cap_sys_ptrace=ep nodescope\n"
                          "  Inside of a container it needs --cap-add PERFMON --cap-add SYS_PTRACE and a "
                          "seccomp profile that allows perf_event_open",
                          tid, std::strerror(number), owner_remedy())};
    case ENOSYS:
    case ENOENT:
    case EOPNOTSUPP:
      return {ErrorCode::kUnsupported, "this kernel has no perf events (CONFIG_PERF_EVENTS)"};
    case EMFILE:
    case ENFILE:
      return {ErrorCode::kLimit,
              "too many open files: sampling takes one for every thread and processor; raise the limit "
              "(ulimit -n)"};
    default:
      return {ErrorCode::kSystem, fmt::format("perf_event_open: {}", std::strerror(number))};
  }
}

}  // namespace

struct PerfSampler::Attribute : perf_event_attr {};

// One processor's buffer.  The kernel writes behind data_head, we read up to it.
struct PerfSampler::Ring {
  Ring(int event, void* memory, std::size_t bytes) : owner(event), base(memory), data_bytes(bytes) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { ::munmap(base, data_bytes + page_bytes()); }

  static std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
  perf_event_mmap_page& page() const { return *static_cast<perf_event_mmap_page*>(base); }
  const std::byte* data() const { return static_cast<const std::byte*>(base) + page_bytes(); }

  int owner;  // of the event that it was made for
  void* base;
  std::size_t data_bytes;
  std::uint64_t collected = 0;     // up to here records were handed out
  std::vector<std::byte> wrapped;  // the one record that goes around the end
};

PerfSampler::PerfSampler(const PerfSamplerOptions& options)
    : options_(options), attribute_(std::make_unique<Attribute>()), cpus_(online_cpus()) {
  raise_descriptor_limit();
  rings_.resize(cpus_.size());
  Attribute& attr = *attribute_;
  attr.size = sizeof(perf_event_attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = kNanosecondsPerSecond / std::max(1u, options.frequency_hz);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.read_format = PERF_FORMAT_LOST;
  attr.inherit = 1;
  attr.inherit_thread = options.follow_children ? 0 : 1;
  attr.exclude_hv = 1;
  attr.exclude_callchain_user = 1;
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.sample_regs_user = kSampledUserRegisters;
  attr.sample_stack_user = options.stack_bytes;
  if (options.moment == SampledMoment::kClock) return;
  attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
  attr.sample_period = 1;
  attr.context_switch = 1;
  // The sampler of the clock has these.
  attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 0;
}

PerfSampler::~PerfSampler() = default;

bool PerfSampler::sees_kernel() const {
  return attribute_->exclude_kernel == 0;
}

std::uint64_t PerfSampler::period_ns() const {
  return attribute_->sample_period;
}

std::span<const std::byte> PerfSampler::attribute() const {
  return std::as_bytes(std::span<const Attribute>(attribute_.get(), 1));
}

// Older kernels refuse what they do not know, and all kernels what the user may not see.  All events must be
// alike, so this is settled by the first.
bool PerfSampler::give_up_a_feature(int number) {
  if (!events_.empty()) return false;
  Attribute& attr = *attribute_;
  if (number == EINVAL || number == E2BIG) {
    if (attr.read_format != 0) return std::exchange(attr.read_format, 0) != 0;
    if (attr.inherit_thread != 0) {  // since Linux 5.13; child processes are then sampled for nothing
      attr.inherit_thread = 0;
      return true;
    }
    return false;
  }
  if ((number != EACCES && number != EPERM) || attr.exclude_kernel != 0) return false;
  attr.exclude_kernel = 1;
  attr.exclude_callchain_kernel = 1;
  attr.sample_type &= ~std::uint64_t{PERF_SAMPLE_CALLCHAIN};
  attr.exclude_callchain_user = 0;
  return true;
}

Result<FileDescriptor> PerfSampler::open_event(pid_t tid, int cpu) {
  while (true) {
    const long fd = ::syscall(SYS_perf_event_open, static_cast<perf_event_attr*>(attribute_.get()), tid, cpu,
                              -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0) return FileDescriptor(static_cast<int>(fd));
    const int number = errno;
    if (give_up_a_feature(number)) continue;
    if (number == ESRCH) return fail(ErrorCode::kNotFound, fmt::format("there is no thread {}", tid));
    if (number == ENODEV) return FileDescriptor();  // the processor was switched off
    return std::unexpected(refusal(number, tid));
  }
}

// By an event for ourselves, which is never enabled.  What is refused even so is told when a process is
// attached.
void PerfSampler::settle_features() {
  attribute_->disabled = 1;
  const auto probe = open_event(0, -1);
  attribute_->disabled = 0;
}

Result<void> PerfSampler::attach_ring(const FileDescriptor& event, int cpu) {
  const auto index = static_cast<std::size_t>(std::ranges::find(cpus_, cpu) - cpus_.begin());
  if (rings_[index] != nullptr) {
    if (::ioctl(event.get(), PERF_EVENT_IOC_SET_OUTPUT, rings_[index]->owner) == 0) return {};
    return fail_errno(errno, "sharing a ring buffer");
  }
  int number = 0;
  // What a user may lock in memory is limited; a smaller ring works until the machine is very busy.
  for (std::size_t bytes = ring_bytes(options_); bytes >= kMinRingBytes; bytes /= 2) {
    void* memory =
        ::mmap(nullptr, bytes + Ring::page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
    if (memory != MAP_FAILED) {
      rings_[index] = std::make_unique<Ring>(event.get(), memory, bytes);
      return {};
    }
    number = errno;
    if (number != EPERM && number != ENOMEM) break;
  }
  return fail_errno(number, "making a ring buffer (see perf_event_mlock_kb and ulimit -l)");
}

// False when there is no such thread or processor any more.
Result<bool> PerfSampler::attach_thread(pid_t tid, int cpu) {
  auto event = open_event(tid, cpu);
  if (!event && event.error().code == ErrorCode::kNotFound) return false;
  if (!event) return std::unexpected(event.error());
  if (!event->is_open()) return false;
  if (auto done = attach_ring(*event, cpu); !done) return std::unexpected(done.error());
  events_.push_back(std::move(*event));
  return true;
}

Result<void> PerfSampler::attach(pid_t pid) {
  bool any = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    const auto threads = list_threads(pid);
    if (!threads && threads.error().code != ErrorCode::kNotFound) return std::unexpected(threads.error());
    if (!threads) break;
    bool found_new = false;
    for (const pid_t tid : *threads) {
      if (!attached_.emplace(static_cast<std::uint64_t>(tid), true).second) continue;
      found_new = true;
      for (const int cpu : cpus_) {
        const auto attached = attach_thread(tid, cpu);
        if (!attached) return std::unexpected(attached.error());
        any = any || *attached;
      }
    }
    // A thread that the sampled ones start from now on inherits their events.
    if (!found_new) break;
  }
  if (!any) return fail(ErrorCode::kNotFound, fmt::format("there is no process {}", pid));
  return {};
}

Result<void> PerfSampler::attach_before_exec(pid_t pid) {
  Attribute& attr = *attribute_;
  const bool inherits_threads_only = attr.inherit_thread != 0;
  attr.inherit_thread = 0;
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  auto attached = attach(pid);
  attr.inherit_thread = inherits_threads_only ? 1 : 0;
  attr.disabled = 0;
  attr.enable_on_exec = 0;
  return attached;
}

std::span<const std::span<const std::byte>> PerfSampler::collect() {
  records_.clear();
  for (const auto& ring : rings_) {
    if (ring != nullptr) collect_ring(*ring);
  }
  return records_;
}

void PerfSampler::collect_ring(Ring& ring) {
  const std::uint64_t head = std::atomic_ref(ring.page().data_head).load(std::memory_order_acquire);
  const std::size_t mask = ring.data_bytes - 1;
  while (head - ring.collected >= sizeof(perf_event_header)) {
    const std::size_t offset = ring.collected & mask;
    perf_event_header header{};
    std::memcpy(&header, ring.data() + offset, sizeof header);  // records are aligned: it never wraps
    if (header.size < sizeof header || header.size > head - ring.collected) {
      ring.collected = head;  // cannot happen; to read on would be to guess
      break;
    }
    const std::size_t until_end = ring.data_bytes - offset;
    if (header.size <= until_end) {
      records_.emplace_back(ring.data() + offset, header.size);
    } else {
      ring.wrapped.assign(ring.data() + offset, ring.data() + ring.data_bytes);
      ring.wrapped.insert(ring.wrapped.end(), ring.data(), ring.data() + (header.size - until_end));
      records_.emplace_back(ring.wrapped);
    }
    ring.collected += header.size;
  }
}

void PerfSampler::release() {
  records_.clear();
  for (const auto& ring : rings_) {
    if (ring != nullptr)
      std::atomic_ref(ring->page().data_tail).store(ring->collected, std::memory_order_release);
  }
}

PerfSampler::Totals PerfSampler::read_totals() const {
  Totals totals;
  const bool has_lost = (attribute_->read_format & PERF_FORMAT_LOST) != 0;
  if (has_lost) totals.lost_records = 0;
  for (const FileDescriptor& event : events_) {
    std::array<std::uint64_t, 2> values{};
    if (::read(event.get(), values.data(), (has_lost ? 2u : 1u) * sizeof(std::uint64_t)) <= 0) continue;
    totals.cpu_ns += values[0];
    if (has_lost) *totals.lost_records += values[1];
  }
  return totals;
}

void PerfSampler::stop() {
  for (const FileDescriptor& event : events_) ::ioctl(event.get(), PERF_EVENT_IOC_DISABLE, 0);
}

}  // namespace nodescope
