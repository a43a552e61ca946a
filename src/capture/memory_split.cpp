#include "capture/memory_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "os/procfs.h"
#include "v8/heap_pages.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kKilobyte = 1024;

// "Rss:     1234 kB" of each mapping, by where it begins.
FlatMap<std::uint64_t, std::uint64_t> parse_smaps(std::string_view text) {
  FlatMap<std::uint64_t, std::uint64_t> resident;
  std::uint64_t begin = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t dash = line.find('-');
    const std::size_t blank = line.find(' ');
    if (dash < blank) {
      if (const auto address = parse_hex(line.substr(0, dash))) begin = *address;
    }
    constexpr std::string_view kRss = "Rss:";
    if (!line.starts_with(kRss)) continue;
    line.remove_prefix(kRss.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (const auto kilobytes = parse_number<std::uint64_t>(line.substr(0, line.find(' '))))
      resident[begin] = *kilobytes * kKilobyte;
  }
  return resident;
}

MemoryUse use_of_page(const v8::HeapPage& page) {
  if (page.kind == v8::SpaceKind::kReadOnly) return MemoryUse::kReadOnly;
  if (page.kind == v8::SpaceKind::kCode) return MemoryUse::kCode;
  if (page.is_large) return MemoryUse::kLarge;
  return page.kind == v8::SpaceKind::kOld ? MemoryUse::kOld : MemoryUse::kYoung;
}

}  // namespace

Result<MemoryWatch> MemoryWatch::open(pid_t pid) {
  auto process = LiveProcess::open(pid);
  if (!process) return std::unexpected(process.error());
  auto binary = find_node_binary(**process);
  if (!binary) return std::unexpected(binary.error());
  auto pages = PageMap::open(pid);
  if (!pages) return std::unexpected(pages.error());
  return MemoryWatch(std::move(*process), std::move(*pages));
}

// A thread that waits in a system call tells its stack pointer: "232 0x5 … 0x7ffd… 0x7f12…".
void MemoryWatch::find_stacks() {
  const auto threads = list_threads(process_->pid());
  if (!threads) return;
  for (const pid_t tid : *threads) {
    const auto text = read_proc_file(process_->pid(), fmt::format("task/{}/syscall", tid));
    if (!text) continue;
    std::string_view rest(*text);
    while (rest.ends_with('\n')) rest.remove_suffix(1);
    const std::size_t last = rest.rfind(' ');
    if (last == std::string_view::npos) continue;
    rest = rest.substr(0, last);
    const std::size_t before = rest.rfind(" 0x");
    if (before == std::string_view::npos) continue;
    if (const auto pointer = parse_hex(rest.substr(before + 3))) stack_pointers_[tid] = *pointer;
  }
}

MemoryUse MemoryWatch::use_of(const Region& region) const {
  constexpr std::uint64_t kArenaAlignment = std::uint64_t{64} << 20;  // of malloc's arenas for threads
  if (region.has_file() || region.path.starts_with("[v")) return MemoryUse::kProgram;
  if (region.path.starts_with("[heap")) return MemoryUse::kMalloc;
  if (region.path.starts_with("[stack")) return MemoryUse::kStacks;
  if (region.executable) return MemoryUse::kCode;
  const bool is_stack = std::ranges::any_of(
      stack_pointers_, [&](const auto& entry) { return region.range.contains(Address{entry.second}); });
  if (is_stack) return MemoryUse::kStacks;
  return region.range.begin.value % kArenaAlignment == 0 ? MemoryUse::kMalloc : MemoryUse::kBlocks;
}

Result<MemorySplit> MemoryWatch::read() {
  const pid_t pid = process_->pid();
  process_->memory().forget();
  if (auto refreshed = process_->refresh_map(); !refreshed) return std::unexpected(refreshed.error());
  const auto smaps = read_proc_file(pid, "smaps");
  if (!smaps) return std::unexpected(smaps.error());
  find_stacks();
  const auto resident = parse_smaps(*smaps);
  const auto pages = v8::find_heap_pages(process_->memory(), process_->map());
  MemorySplit split;
  for (const auto& [begin, bytes] : resident) split.rss_bytes += bytes;
  auto page = pages.begin();
  for (const Region& region : process_->map().regions()) {
    const auto known = resident.find(region.range.begin.value);
    if (known == resident.end()) continue;
    std::uint64_t left = known->second;
    for (; page != pages.end() && page->range.begin < region.range.end; ++page) {
      const Address end = std::min(page->range.end, region.range.end);
      const auto bytes = pages_.resident_bytes(page->range.begin.value, end.value);
      if (!bytes) return fail(ErrorCode::kNotFound, fmt::format("process {} has ended", pid));
      const std::uint64_t counted = std::min(*bytes, left);
      split.bytes[static_cast<std::size_t>(use_of_page(*page))] += counted;
      left -= counted;
    }
    split.bytes[static_cast<std::size_t>(use_of(region))] += left;
  }
  return split;
}

}  // namespace nodescope
