#include "capture/core_take.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "binary/core_head.h"
#include "os/copy_buffer.h"
#include "os/machine.h"
#include "os/page_map.h"
#include "os/process_memory.h"
#include "os/procfs.h"
#include "os/terminal.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kPageBytes = 4096;

// Between looking at the sizes and stopping it the process may grow by so much.
constexpr std::uint64_t kGrowth = 8;
constexpr std::uint64_t kSpareBytes = std::uint64_t{32} << 20;
constexpr int kMaxAttempts = 5;
constexpr std::chrono::seconds kLongestStop{30};

// A larger file that a process maps to write to it may be a database.
constexpr std::uint64_t kMaxOwnFile = std::uint64_t{64} << 20;

constexpr std::uint64_t kPieceBytes = std::uint64_t{2} << 20;
constexpr unsigned kMaxCopiers = 4;

// A part of memory that goes into the core, and where in the buffer.
struct Piece {
  Range<Address> range;
  std::uint64_t offset = 0;
};

struct PlannedSegment {
  CoreSegment segment;
  std::vector<Piece> pieces;  // by address; between them are zeros
};

struct Plan {
  std::vector<PlannedSegment> segments;
  std::vector<CoreMapping> mappings;
  std::uint64_t bytes = 0;  // of all pieces
};

// Memory that is shared without a file: what maps says of it is no place where it could be found again.
bool is_shared_memory(const Region& region) {
  return region.path.starts_with("/memfd:") || region.path.starts_with("/dev/zero") ||
         region.path.starts_with("/SYSV") || region.path.starts_with("/dev/shm/");
}

class Planner {
 public:
  Planner(const MemoryMap& map, const PageMap& pages) : map_(map), pages_(pages) {}

  Result<Plan> make() {
    for (const Region& region : map_.regions()) {
      const bool is_file = region.has_file() && !is_shared_memory(region);
      if (is_file) plan_.mappings.push_back({region.range, region.offset, region.path});
      if (!region.readable || region.path == "[vsyscall]" || region.path.starts_with("[vvar")) continue;
      PlannedSegment& planned = plan_.segments.emplace_back();
      planned.segment = {region.range, region.readable, region.writable, region.executable, 0, {}};
      if (is_file || region.path == "[vdso]") {
        add(planned, region.range.begin, region.range.begin + bytes_of_file(region));
      } else if (!add_touched(planned)) {
        return fail(ErrorCode::kNotFound, "the process has ended");
      }
    }
    return std::move(plan_);
  }

 private:
  // Pages may have been written to before they were protected, as the linker does with its tables.
  std::uint64_t bytes_of_file(const Region& region) const {
    const std::uint64_t size = region.range.size_bytes();
    if (region.path == "[vdso]") return size;
    const bool may_differ =
        region.writable ||
        pages_.has_own_pages(region.range.begin.value, region.range.end.value).value_or(false);
    if (may_differ && size <= kMaxOwnFile) return size;
    return region.offset.value == 0 ? std::min(size, kPageBytes) : 0;
  }

  bool add_touched(PlannedSegment& planned) {
    const auto runs = pages_.runs(planned.segment.range.begin.value, planned.segment.range.end.value);
    if (!runs) return false;
    for (const auto& [begin, end] : *runs) add(planned, Address{begin}, Address{end});
    return true;
  }

  void add(PlannedSegment& planned, Address begin, Address end) {
    for (; begin < end; begin = begin + kPieceBytes) {
      const Address piece_end = std::min(end, begin + kPieceBytes);
      planned.pieces.push_back({{begin, piece_end}, plan_.bytes});
      plan_.bytes += piece_end - begin;
      planned.segment.dumped_bytes = piece_end - planned.segment.range.begin;
    }
  }

  const MemoryMap& map_;
  const PageMap& pages_;
  Plan plan_;
};

// What could not be read at once page by page, with zeros for the rest.  Returns how much that is.
std::uint64_t copy_by_page(pid_t pid, RemoteBytes piece) {
  std::vector<RemoteBytes> pages;
  for (std::uint64_t at = 0; at < piece.into.size(); at += kPageBytes)
    pages.push_back({piece.address + at, piece.into.subspan(at, kPageBytes)});
  const std::vector<bool> done = read_process_memory(pid, pages);
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i]) continue;
    std::ranges::fill(pages[i].into, std::byte{0});
    missing += kPageBytes;
  }
  return missing;
}

// Returns how many bytes could not be read.
std::uint64_t copy_memory(pid_t pid, const Plan& plan, std::span<std::byte> buffer) {
  std::vector<RemoteBytes> all;
  for (const PlannedSegment& planned : plan.segments) {
    for (const Piece& piece : planned.pieces)
      all.push_back({piece.range.begin.value, buffer.subspan(piece.offset, piece.range.size_bytes())});
  }
  const std::size_t count = std::clamp(available_cores(), 1U, kMaxCopiers);
  std::vector<std::uint64_t> missing(count);
  const auto copy = [&](std::size_t which) {
    const std::size_t begin = all.size() * which / count;
    const auto part = std::span(all).subspan(begin, all.size() * (which + 1) / count - begin);
    const std::vector<bool> done = read_process_memory(pid, part);
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (!done[i]) missing[which] += copy_by_page(pid, part[i]);
    }
  };
  {
    std::vector<std::jthread> copiers;
    for (std::size_t i = 1; i < count; ++i) copiers.emplace_back(copy, i);
    copy(0);
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t each : missing) sum += each;
  return sum;
}

Result<CopyBuffer> make_buffer(pid_t pid, std::uint64_t bytes) {
  const std::uint64_t wanted = bytes + bytes / kGrowth + kSpareBytes;
  const auto available = available_memory_bytes();
  if (available && wanted > *available / 10 * 9)
    return fail(
        ErrorCode::kLimit,
        fmt::format("a copy of process {} takes {} of memory, and {} are available; gcore writes a core "
                    "without a copy, while the process stands still",
                    pid, human_bytes(wanted), human_bytes(*available)));
  return CopyBuffer::allocate(wanted);
}

// The process at one moment.
struct Moment {
  CopyBuffer buffer;
  Plan plan;
  MemoryMap map;  // the paths of the plan are in there
  std::vector<CoreThread> threads;
  CoreTaken taken;
};

std::vector<CoreThread> threads_of(const Standstill& stopped, pid_t pid) {
  std::vector<CoreThread> threads;
  for (const TargetThread& thread : stopped.threads())
    threads.push_back({thread.tid, 0, thread.registers, thread.thread_pointer});
  std::ranges::stable_partition(threads, [&](const CoreThread& thread) { return thread.tid == pid; });
  return threads;
}

Result<Moment> copy_process(LiveProcess& process) {
  const pid_t pid = process.pid();
  const auto pages = PageMap::open(pid);
  if (!pages) return std::unexpected(pages.error());
  const auto expected = Planner(process.map(), *pages).make();
  if (!expected) return std::unexpected(expected.error());
  auto buffer = make_buffer(pid, expected->bytes);
  if (!buffer) return std::unexpected(buffer.error());
  Moment moment;
  moment.buffer = std::move(*buffer);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    auto stopped = process.stop_within({.longest = kLongestStop});
    if (!stopped) return std::unexpected(stopped.error());
    if (auto refreshed = process.refresh_map(); !refreshed) return std::unexpected(refreshed.error());
    moment.map = process.map();
    auto plan = Planner(moment.map, *pages).make();
    if (!plan) return std::unexpected(plan.error());
    moment.plan = std::move(*plan);
    const bool fits = moment.plan.bytes <= moment.buffer.bytes().size();
    if (fits) moment.taken.unreadable_bytes = copy_memory(pid, moment.plan, moment.buffer.bytes());
    moment.threads = threads_of(**stopped, pid);
    moment.taken.stopped_ns = std::max(moment.taken.stopped_ns, (*stopped)->resume_ns());
    if ((*stopped)->was_cut_short())
      return fail(
          ErrorCode::kLimit,
          fmt::format("process {} went on before its memory was copied: it is not kept from working for "
                      "more than {} s, nor while nodescope itself is stopped",
                      pid, kLongestStop.count()));
    if (fits) return moment;
    moment.buffer = {};
    auto larger = make_buffer(pid, moment.plan.bytes);
    if (!larger) return std::unexpected(larger.error());
    moment.buffer = std::move(*larger);
  }
  return fail(ErrorCode::kSystem, fmt::format("process {} grows faster than it is copied", pid));
}

std::string command_line_of(pid_t pid) {
  std::string text = read_proc_file(pid, "cmdline").value_or("");
  while (text.ends_with('\0')) text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

Result<void> write_memory(const Moment& moment, OutputFile& file) {
  const std::string_view buffer(reinterpret_cast<const char*>(moment.buffer.bytes().data()),
                                moment.buffer.bytes().size());
  for (const PlannedSegment& planned : moment.plan.segments) {
    Address here = planned.segment.range.begin;
    for (const Piece& piece : planned.pieces) {
      if (auto skipped = file.skip(piece.range.begin - here); !skipped) return skipped;
      if (auto written = file.write(buffer.substr(piece.offset, piece.range.size_bytes())); !written)
        return written;
      here = piece.range.end;
    }
  }
  return {};
}

}  // namespace

Result<CoreTaken> take_core(pid_t pid, OutputFile& file) {
  auto process = LiveProcess::open(pid);
  if (!process) return std::unexpected(process.error());
  auto moment = copy_process(**process);
  if (!moment) return std::unexpected(moment.error());
  const std::string name = (*process)->thread_name(pid);
  const std::string command_line = command_line_of(pid);
  const std::string auxiliary = read_proc_file(pid, "auxv").value_or("");
  std::vector<CoreSegment> segments;
  for (const PlannedSegment& planned : moment->plan.segments) segments.push_back(planned.segment);
  const auto head =
      write_core_head({pid, name, command_line, auxiliary, moment->threads, moment->plan.mappings, segments});
  if (!head) return std::unexpected(head.error());
  if (auto written = file.write(*head); !written) return std::unexpected(written.error());
  if (auto written = write_memory(*moment, file); !written) return std::unexpected(written.error());
  CoreTaken taken = moment->taken;
  taken.copied_bytes = moment->plan.bytes;
  taken.file_bytes = head->size();
  for (const CoreSegment& segment : segments) taken.file_bytes += segment.dumped_bytes;
  taken.threads = moment->threads.size();
  return taken;
}

}  // namespace nodescope
