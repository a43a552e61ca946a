#include "os/function_probes.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
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
// Copies of stacks are larger: five of the largest, more of the usual.
constexpr std::size_t kStackDataPages = 64;
constexpr std::uint32_t kStackBytes = 48 * 1024;

// PERF_REG_X86_DX, PERF_REG_X86_SI and PERF_REG_X86_DI (arch/x86/include/uapi/asm/perf_regs.h).
constexpr std::uint64_t kDx = 1u << 3;
constexpr std::uint64_t kSi = 1u << 4;
constexpr std::uint64_t kDi = 1u << 5;
constexpr std::uint64_t kArgumentRegisters = kDx | kSi | kDi;

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

std::uint64_t registers_of(const ProbePoint& point) {
  return point.with_stack ? kProbeRegisters : kArgumentRegisters;
}

std::size_t data_pages_of(const ProbePoint& point) {
  return point.with_stack ? kStackDataPages : kDataPages;
}

// PERF_SAMPLE_TID, PERF_SAMPLE_TIME and PERF_SAMPLE_REGS_USER, in this order; the words of the registers and
// PERF_SAMPLE_STACK_USER follow.
struct HitRecord {
  perf_event_header header;
  std::int32_t pid;
  std::int32_t tid;
  std::uint64_t time_ns;
  std::uint64_t register_abi;
};

template <typename T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T value{};
  if (at <= bytes.size() && sizeof value <= bytes.size() - at)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<ProbeHit> parse_hit(std::span<const std::byte> record, std::size_t index,
                                  const ProbePoint& point) {
  const std::uint64_t mask = registers_of(point);
  const std::size_t register_bytes = std::size_t{8} * static_cast<std::size_t>(std::popcount(mask));
  // A thread of the kernel has no registers of a user.
  const auto head = load<HitRecord>(record, 0);
  if (record.size() < sizeof head + register_bytes || head.register_abi == 0) return std::nullopt;
  const auto registers = record.subspan(sizeof head, register_bytes);
  const auto word = [&](std::uint64_t bit) {
    return load<std::uint64_t>(registers,
                               std::size_t{8} * static_cast<std::size_t>(std::popcount(mask & (bit - 1))));
  };
  ProbeHit hit{.time_ns = head.time_ns,
               .point = index,
               .tid = head.tid,
               .first = word(kDi),
               .second = word(kSi),
               .third = word(kDx)};
  if (!point.with_stack) return hit;
  hit.registers.assign(registers.begin(), registers.end());
  const std::size_t begin = sizeof head + register_bytes + 8;
  const auto size = load<std::uint64_t>(record, begin - 8);
  if (size == 0 || begin > record.size() || size > record.size() - begin) return hit;
  const auto used = load<std::uint64_t>(record, begin + size);
  const auto stack = record.subspan(begin, static_cast<std::size_t>(std::min(size, used)));
  hit.stack.assign(stack.begin(), stack.end());
  return hit;
}

}  // namespace

// Of one thread and one point.
struct FunctionProbes::Ring {
  Ring(FileDescriptor from, void* memory, std::size_t bytes, std::size_t of)
      : event(std::move(from)), base(memory), data_bytes(bytes), point(of) {}
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { ::munmap(base, data_bytes + page_bytes()); }

  perf_event_mmap_page& page() const { return *static_cast<perf_event_mmap_page*>(base); }

  FileDescriptor event;
  void* base;
  std::size_t data_bytes;
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
    attr.sample_regs_user = registers_of(points_[i]);
    if (points_[i].with_stack) {
      attr.sample_type |= PERF_SAMPLE_STACK_USER;
      attr.sample_stack_user = kStackBytes;
    }
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
    const std::size_t bytes = data_pages_of(points_[i]) * page_bytes();
    void* memory = ::mmap(nullptr, bytes + page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
    if (memory == MAP_FAILED) return fail_errno(errno, "making a ring buffer for a probe");
    rings_.push_back(std::make_unique<Ring>(std::move(event), memory, bytes, i));
  }
  return {};
}

void FunctionProbes::collect_ring(Ring& ring, std::vector<ProbeHit>& hits) {
  const auto* data = static_cast<const std::byte*>(ring.base) + page_bytes();
  const std::uint64_t head = std::atomic_ref(ring.page().data_head).load(std::memory_order_acquire);
  std::uint64_t tail = ring.page().data_tail;
  std::vector<std::byte> record;
  while (head - tail >= sizeof(perf_event_header)) {
    const std::size_t at = tail % ring.data_bytes;
    perf_event_header header{};
    std::memcpy(&header, data + at, sizeof header);  // records are aligned: it never wraps
    if (header.size < sizeof header || header.size > head - tail) break;
    const std::size_t until_end = std::min<std::size_t>(header.size, ring.data_bytes - at);
    record.assign(data + at, data + at + until_end);
    record.insert(record.end(), data, data + (header.size - until_end));
    if (header.type == PERF_RECORD_SAMPLE) {
      if (auto hit = parse_hit(record, ring.point, points_[ring.point])) hits.push_back(std::move(*hit));
    } else if (header.type == PERF_RECORD_LOST) {
      ++lost_;
    }
    tail += header.size;
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
