#include "capture/heap_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "os/process_memory.h"
#include "v8/heap_pages.h"

namespace nodescope {

namespace {

// Between looking at the sizes and stopping it the heap may grow by so much.
constexpr std::size_t kGrowth = 8;
constexpr std::size_t kSpareBytes = std::size_t{16} << 20;

constexpr int kMaxAttempts = 20;
// A quarter of a second per GB is usual; a machine that is busy takes several times that.
constexpr std::chrono::seconds kLongestStop{30};
constexpr std::chrono::milliseconds kBetweenAttempts{5};

std::uint64_t copied_bytes(std::span<const v8::HeapPage> pages) {
  std::uint64_t bytes = 0;
  for (const v8::HeapPage& page : pages) {
    if (page.kind != v8::SpaceKind::kEvacuated) bytes += page.range.size_bytes();
  }
  return bytes;
}

std::vector<v8::HeapThread> threads_of(const Standstill& stopped) {
  std::vector<v8::HeapThread> threads;
  for (const TargetThread& thread : stopped.threads()) {
    v8::HeapThread heap_thread{thread.tid, {}, {}, Address{thread.thread_pointer}};
    for (std::size_t i = 0; i < kRegisterCount; ++i) {
      if (const auto value = thread.registers.get(static_cast<Register>(i)))
        heap_thread.registers.push_back(*value);
    }
    heap_thread.stack_pointer = Address{thread.registers.get(Register::kRsp).value_or(0)};
    threads.push_back(std::move(heap_thread));
  }
  return threads;
}

}  // namespace

Result<HeapCopier> HeapCopier::open(pid_t pid) {
  auto process = LiveProcess::open(pid);
  if (!process) return std::unexpected(process.error());
  auto binary = find_node_binary(**process);
  if (!binary) return std::unexpected(binary.error());
  auto layout = v8::Layout::build(binary->elf.file());
  if (!layout) return fail(layout.error(), binary->path);
  return HeapCopier(std::move(*process), std::make_shared<const v8::Layout>(std::move(*layout)));
}

Result<HeapCopy> HeapCopier::copy() {
  const pid_t pid = process_->pid();
  Memory& memory = process_->memory();
  memory.forget();
  if (auto refreshed = process_->refresh_map(); !refreshed) return std::unexpected(refreshed.error());
  const std::uint64_t expected = copied_bytes(v8::find_heap_pages(memory, process_->map()));
  if (expected == 0) return fail(ErrorCode::kUnsupported, fmt::format("process {} has no V8 heap yet", pid));
  HeapCopy copy;
  auto buffer = CopyBuffer::allocate(expected + expected / kGrowth + kSpareBytes);
  if (!buffer) return std::unexpected(buffer.error());
  copy.buffer = std::move(*buffer);
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    memory.forget();
    auto stopped = process_->stop_within({.longest = kLongestStop});
    if (!stopped) return std::unexpected(stopped.error());
    if (auto refreshed = process_->refresh_map(); !refreshed) return std::unexpected(refreshed.error());
    const auto pages = v8::find_heap_pages(memory, process_->map());
    copy.isolates = v8::find_isolates(memory, process_->map(), pages, threads_of(**stopped));
    const bool is_collecting = std::ranges::any_of(copy.isolates, &v8::Isolate::is_collecting);
    const std::uint64_t bytes = copied_bytes(pages);
    if (is_collecting || bytes > copy.buffer.bytes().size()) {
      copy.stopped_ns = std::max(copy.stopped_ns, (*stopped)->resume_ns());
      if (!is_collecting) {
        auto larger = CopyBuffer::allocate(bytes + bytes / kGrowth + kSpareBytes);
        if (!larger) return std::unexpected(larger.error());
        copy.buffer = std::move(*larger);
      }
      std::this_thread::sleep_for(kBetweenAttempts);
      continue;
    }
    std::vector<RemoteBytes> pieces;
    copy.pages.clear();
    std::size_t offset = 0;
    for (const v8::HeapPage& page : pages) {
      if (page.kind == v8::SpaceKind::kEvacuated) continue;
      const auto into = copy.buffer.bytes().subspan(offset, page.range.size_bytes());
      offset += into.size();
      pieces.push_back({page.range.begin.value, into});
      copy.pages.push_back({page, into});
    }
    const std::vector<bool> done = read_process_memory(pid, pieces);
    copy.stopped_ns = std::max(copy.stopped_ns, (*stopped)->resume_ns());
    if ((*stopped)->was_cut_short()) {
      return fail(
          ErrorCode::kLimit,
          fmt::format("process {} went on before its heap was copied: it is not kept from working for "
                      "more than {} s, nor while nodescope itself is stopped",
                      pid, std::chrono::seconds(kLongestStop).count()));
    }
    // V8 may have given a page back between two looks; such a one holds nothing.
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (!done[i]) copy.pages[i].bytes = {};
    }
    copy.heap_bytes = bytes;
    return copy;
  }
  return fail(ErrorCode::kSystem, fmt::format("process {} collects garbage all the time", pid));
}

}  // namespace nodescope
