#include "os/function_probes.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "base/text.h"

namespace nodescope {

namespace {

// Some hundred hits: collections come some times a second.
constexpr std::size_t kDataPages = 8;

// PERF_REG_X86_DX and PERF_REG_X86_SI (arch/x86/include/uapi/asm/perf_regs.h), in this order in a record.
constexpr std::uint64_t kArgumentRegisters = 1u << 3 | 1u << 4;

std::size_t page_bytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// The number that the kernel gave to its uprobes.
std::optional<std::uint32_t> probe_type() {
  auto source = open_file("/sys/bus/event_source/devices/uprobe/type");
  if (!source) return std::nullopt;
  std::string storage;
  const auto bytes = read_whole(**source, storage, 64);
  std::string_view text = bytes ? as_text(*bytes) : std::string_view();
  while (text.ends_with('\n')) text.remove_suffix(1);
  return parse_number<std::uint32_t>(text);
}

// PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_REGS_USER, in this order.
struct HitRecord {
  perf_event_header header;
  std::int32_t pid;
  std::int32_t tid;
  std::uint64_t time_ns;
  std::uint64_t register_abi;
  std::uint64_t third;
  std::uint64_t second;
};

}  // namespace

// Of one thread and one point.
struct FunctionProbes::Ring {
  Ring(FileDescriptor from, void* memory, std::size_t of) : event(std::move(from)), base(memory), point(of) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { ::munmap(base, (kDataPages + 1) * page_bytes()); }

  perf_event_mmap_page& page() const { return *static_cast<perf_event_mmap_page*>(base); }

  FileDescriptor event;
  void* base;
  std::size_t point;
};

FunctionProbes::FunctionProbes(std::vector<ProbePoint> points) : points_(std::move(points)) {}
FunctionProbes::~FunctionProbes() = default;

Result<void> FunctionProbes::attach(pid_t tid) {
  const auto type = probe_type();
  if (!type) return fail(ErrorCode::kUnsupported, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
  for (std::size_t i = 0; i < points_.size(); ++i) {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = *type;
    attr.config = points_[i].at_return ? 1 : 0;
    attr.uprobe_path = reinterpret_cast<std::uintptr_t>(points_[i].path.c_str());
    attr.probe_offset = points_[i].file_offset;
    attr.sample_period = 1;
    attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER;
    attr.sample_regs_user = kArgumentRegisters;
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    const long fd = ::syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
      const int number = errno;
      const auto code = number == EACCES || number == EPERM ? ErrorCode::kPermission
                        : number == ESRCH                   ? ErrorCode::kNotFound
                                                            : ErrorCode::kSystem;
      return fail(code, fmt::format("a probe of thread {}: {}", tid, std::strerror(number)));
    }
    FileDescriptor event(static_cast<int>(fd));
    void* memory =
        ::mmap(nullptr, (kDataPages + 1) * page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
    if (memory == MAP_FAILED) return fail_errno(errno, "making a ring buffer for a probe");
    rings_.push_back(std::make_unique<Ring>(std::move(event), memory, i));
  }
  return {};
}

void FunctionProbes::collect_ring(Ring& ring, std::vector<ProbeHit>& hits) {
  const std::size_t bytes = kDataPages * page_bytes();
  const auto* data = static_cast<const std::byte*>(ring.base) + page_bytes();
  const std::uint64_t head = std::atomic_ref(ring.page().data_head).load(std::memory_order_acquire);
  std::uint64_t tail = ring.page().data_tail;
  const auto copy = [&](std::uint64_t at, void* into, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) static_cast<std::byte*>(into)[i] = data[(at + i) % bytes];
  };
  while (head - tail >= sizeof(perf_event_header)) {
    HitRecord record{};
    copy(tail, &record.header, sizeof record.header);
    if (record.header.size < sizeof record.header || record.header.size > head - tail) break;
    if (record.header.type == PERF_RECORD_SAMPLE && record.header.size >= sizeof record) {
      copy(tail, &record, sizeof record);
      hits.push_back({record.time_ns, ring.point, record.tid, record.second, record.third});
    } else if (record.header.type == PERF_RECORD_LOST) {
      ++lost_;
    }
    tail += record.header.size;
  }
  std::atomic_ref(ring.page().data_tail).store(head, std::memory_order_release);
}

std::vector<ProbeHit> FunctionProbes::collect() {
  std::vector<ProbeHit> hits;
  for (const auto& ring : rings_) collect_ring(*ring, hits);
  std::ranges::stable_sort(hits, {}, &ProbeHit::time_ns);
  return hits;
}

}  // namespace nodescope
