#include "target/event_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "base/text.h"
#include "os/process_memory.h"
#include "os/procfs.h"

namespace nodescope {

namespace {

// node::worker::Worker::Run, which has the loop, is among the first functions of its thread.
constexpr std::size_t kStackEndBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxAccountBytes = 160;

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

bool read_memory(pid_t pid, Address address, std::span<std::byte> into) {
  return read_process_memory(pid, std::array{RemoteBytes{address.value, into}})[0];
}

std::uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// The stack of a thread that was started: what lies behind a page that nobody may touch.
bool may_be_stack(const Region& region, const Region* before) {
  return region.anonymous() && region.readable && region.writable && !region.executable &&
         before != nullptr && before->range.end == region.range.begin && !before->readable &&
         !before->writable && region.range.size_bytes() >= kStackEndBytes;
}

// "0 0x3 0x7ffb… SP PC": the stack pointer of a thread that waits; "running" otherwise.
Address stack_pointer_of(pid_t pid, pid_t tid) {
  auto text = read_proc_file(pid, fmt::format("task/{}/syscall", tid));
  if (!text) return {};
  while (text->ends_with('\n')) text->pop_back();
  const std::size_t last = text->rfind(' ');
  const std::size_t before = last == std::string::npos || last == 0 ? last : text->rfind(' ', last - 1);
  if (before == std::string::npos) return {};
  const std::string_view word = std::string_view(*text).substr(before + 1, last - before - 1);
  return Address{word.starts_with("0x") ? parse_hex(word.substr(2)).value_or(0) : 0};
}

pid_t owner_by_stack_pointer(pid_t pid, const Region& region, std::span<const pid_t> threads) {
  for (const pid_t tid : threads) {
    if (tid != pid && region.range.contains(stack_pointer_of(pid, tid))) return tid;
  }
  return 0;
}

}  // namespace

std::optional<LoopAccount> read_account(const EventLoop& loop) {
  std::array<std::byte, kMaxAccountBytes> bytes{};
  const auto account = std::span(bytes).first(account_bytes(loop.layout));
  std::uint64_t time = 0;
  const auto time_bytes = std::as_writable_bytes(std::span(&time, 1));
  std::array<RemoteBytes, 2> pieces = {
      RemoteBytes{loop.fields.value, account},
      RemoteBytes{loop.loop.value + loop.layout.time_offset, time_bytes},
  };
  const std::size_t count = loop.layout.counts_turns() ? 1 : 2;
  const auto read = read_process_memory(loop.pid, std::span(pieces).first(count));
  if (std::ranges::find(read, false) != read.end()) return std::nullopt;
  auto result = parse_account(loop.layout, account);
  if (result && !loop.layout.counts_turns()) result->turn = time;
  return result;
}

pid_t owner_of_stack(std::span<const std::byte> stack_end, Address end, std::span<const pid_t> threads) {
  // struct pthread of glibc on x86-64: its header has its own address at 0 and 16; the tid is at 720 (2.3
  // to 2.41).
  constexpr std::size_t kSelf = 16;
  constexpr std::size_t kTid = 720;
  const Address begin = end - stack_end.size();
  for (std::size_t i = stack_end.size() / 8 * 8; i >= 8; i -= 8) {
    const std::size_t offset = i - 8;
    if (stack_end.size() - offset < kTid + sizeof(std::int32_t)) continue;
    const std::uint64_t address = (begin + offset).value;
    if (word_at(stack_end, offset) != address || word_at(stack_end, offset + kSelf) != address) continue;
    std::int32_t tid = 0;
    std::memcpy(&tid, stack_end.data() + offset + kTid, sizeof tid);
    if (std::ranges::find(threads, tid) != threads.end()) return tid;
  }
  return 0;
}

bool LoopFinder::knows(pid_t tid) const {
  return std::ranges::find(known_, tid) != known_.end();
}

bool LoopFinder::waits_on_epoll(std::int32_t descriptor) const {
  const auto link = read_proc_link(pid_, fmt::format("fd/{}", descriptor));
  return link && *link == "anon_inode:[eventpoll]";
}

std::optional<EventLoop> LoopFinder::check(Address loop, pid_t tid, const LoopHead& head) const {
  const EventLoop found{pid_, tid, loop, head.fields, layout_};
  std::array<std::byte, kLoopBodyBytes> body{};
  std::uint64_t back = 0;
  const auto account = read_account(found);
  const std::uint64_t now = monotonic_ns();
  if (!account || account->idle_ns > now || account->asleep_since_ns > now) return std::nullopt;
  if (!read_memory(pid_, loop, body) || !has_own_handle(body, loop)) return std::nullopt;
  // Handles come and go: a queue that is being changed is looked at again the next time.
  if (!read_memory(pid_, head.first_handle + 8, std::as_writable_bytes(std::span(&back, 1))) ||
      back != (loop + kLoopHandles).value)
    return std::nullopt;
  if (!waits_on_epoll(head.backend_fd)) return std::nullopt;
  return found;
}

// The symbols are in the program, or in a library.
Result<void> LoopFinder::open(const LiveProcess& process) {
  for (const Region& region : process.map().regions()) {
    if (!region.executable || !region.has_file()) continue;
    const auto elf = process.open_image(region);
    const auto symbols = elf ? find_loop_symbols(elf->file()) : std::optional<LoopSymbols>();
    const auto code = symbols ? elf->file().to_address(region.offset) : std::optional<FileAddress>();
    if (!code) continue;
    layout_ = symbols->layout;
    default_loop_pointer_ = region.range.begin + (symbols->default_loop_pointer - *code);
    return {};
  }
  return fail(ErrorCode::kUnsupported,
              fmt::format("process {} has no libuv whose event loops are understood (1.39 and later)", pid_));
}

std::optional<EventLoop> LoopFinder::main_loop() const {
  std::uint64_t loop = 0;
  std::array<std::byte, kLoopHeadBytes> bytes{};
  if (!read_memory(pid_, default_loop_pointer_, std::as_writable_bytes(std::span(&loop, 1))) || loop == 0 ||
      !read_memory(pid_, Address{loop}, bytes))
    return std::nullopt;
  const auto head = parse_loop_head(bytes);
  return head ? check(Address{loop}, pid_, *head) : std::nullopt;
}

std::optional<EventLoop> LoopFinder::loop_on_stack(const Region& region,
                                                   std::span<const pid_t> threads) const {
  std::vector<std::byte> bytes(kStackEndBytes);
  const Address begin = region.range.end - kStackEndBytes;
  if (!read_memory(pid_, begin, bytes)) return std::nullopt;
  std::optional<pid_t> owner;
  for (std::size_t i = 0; i + kLoopHeadBytes <= bytes.size(); i += 8) {
    const auto head = parse_loop_head(std::span(bytes).subspan(i, kLoopHeadBytes));
    // Few words of a stack pass the first of these; no file has so high a number.
    constexpr std::int32_t kMaxDescriptor = 1 << 20;
    if (!head || head->backend_fd < 3 || head->backend_fd > kMaxDescriptor) continue;
    auto loop = check(begin + i, 0, *head);
    if (!loop) continue;
    if (!owner) {
      owner = owner_of_stack(bytes, region.range.end, threads);
      if (*owner == 0) owner = owner_by_stack_pointer(pid_, region, threads);
    }
    if (*owner == 0 || *owner == pid_) return std::nullopt;
    loop->tid = *owner;
    return loop;
  }
  return std::nullopt;
}

Result<std::vector<EventLoop>> LoopFinder::find_new() {
  const auto threads = list_threads(pid_);
  if (!threads) return std::unexpected(threads.error());
  std::vector<EventLoop> found;
  std::erase_if(known_, [&](pid_t tid) { return std::ranges::find(*threads, tid) == threads->end(); });
  auto process = LiveProcess::open(pid_);
  if (!process) return std::unexpected(process.error());
  if (default_loop_pointer_ == Address{}) {
    if (auto opened = open(**process); !opened) return std::unexpected(opened.error());
  }
  if (!knows(pid_)) {
    if (auto loop = main_loop()) found.push_back(*loop);
  }
  const Region* before = nullptr;
  for (const Region& region : (*process)->map().regions()) {
    if (may_be_stack(region, before)) {
      auto loop = loop_on_stack(region, *threads);
      if (loop && !knows(loop->tid)) found.push_back(*loop);
    }
    before = &region;
  }
  for (const EventLoop& loop : found) known_.push_back(loop.tid);
  return found;
}

}  // namespace nodescope
