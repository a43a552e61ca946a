#include "target/loop_handles.h"

#include <array>
#include <cstddef>

namespace nodescope {

namespace {

constexpr std::size_t kMaxHandles = 1 << 20;
constexpr std::size_t kStackEndBytes = std::size_t{64} << 10;

// uv_handle_t: the same in libuv 1.39 to 1.51 on 64-bit Linux (include/uv.h, include/uv/unix.h).
constexpr std::uint64_t kHandleQueue = 32;
constexpr std::uint64_t kActiveRequests = 32;  // of uv_loop_t

struct RawHandle {
  std::uint64_t data;
  std::uint64_t loop;
  std::uint32_t type;
  std::uint32_t padding;
  std::uint64_t close_callback;
  std::uint64_t next;
  std::uint64_t before;
  std::array<std::uint64_t, 4> reserved;
  std::uint64_t next_closing;
  std::uint32_t flags;
};
static_assert(offsetof(RawHandle, next) == kHandleQueue && offsetof(RawHandle, flags) == 88);

constexpr std::uint32_t kClosing = 1;
constexpr std::uint32_t kClosed = 2;
constexpr std::uint32_t kActive = 4;
constexpr std::uint32_t kReferenced = 8;

// Where the handles of a type keep a number, behind what all of them have.
struct HandleType {
  std::string_view name;
  std::uint64_t descriptor = 0;
};
constexpr HandleType kTypes[] = {{"unknown"},  {"async"},       {"check"},     {"fs_event"},  {"fs_poll"},
                                 {"handle"},   {"idle"},        {"pipe", 184}, {"poll", 152}, {"prepare"},
                                 {"process"},  {"stream", 184}, {"tcp", 184},  {"timer"},     {"tty", 184},
                                 {"udp", 176}, {"signal"},      {"file"}};
constexpr std::uint64_t kTimerDue = 128;
constexpr std::uint64_t kProcessPid = 104;
constexpr std::uint64_t kSignalNumber = 104;

LoopHandle describe(Memory& memory, Address address, const RawHandle& raw, std::uint64_t now) {
  LoopHandle handle{address, kTypes[raw.type].name, Address{raw.data}};
  handle.is_active = (raw.flags & kActive) != 0;
  handle.is_referenced = (raw.flags & kReferenced) != 0;
  handle.is_closing = (raw.flags & (kClosing | kClosed)) != 0;
  if (const std::uint64_t offset = kTypes[raw.type].descriptor; offset != 0) {
    const auto descriptor = memory.load<std::int32_t>(address + offset);
    if (descriptor && *descriptor >= 0) handle.descriptor = descriptor;
  }
  if (handle.type == "process") handle.pid = memory.load<std::int32_t>(address + kProcessPid);
  if (handle.type == "signal") handle.signal = memory.load<std::int32_t>(address + kSignalNumber);
  const auto due = handle.type == "timer" && handle.is_active
                       ? memory.load<std::uint64_t>(address + kTimerDue)
                       : std::nullopt;
  if (due) handle.due_ms = *due > now ? *due - now : 0;
  return handle;
}

std::optional<HandleLoop> loop_on_stack(TargetProcess& process, const LoopLayout& layout,
                                        const TargetThread& thread) {
  const Region* region = process.map().find(Address{thread.registers.get(Register::kRsp).value_or(0)});
  if (region == nullptr || region->range.size_bytes() < kStackEndBytes) return std::nullopt;
  std::vector<std::byte> bytes(kStackEndBytes);
  const Address begin = region->range.end - kStackEndBytes;
  if (!process.memory().read(begin, bytes)) return std::nullopt;
  for (std::size_t i = 0; i + kLoopHeadBytes <= bytes.size(); i += 8) {
    const auto head = parse_loop_head(std::span(bytes).subspan(i, kLoopHeadBytes));
    constexpr std::int32_t kMaxDescriptor = 1 << 20;
    if (!head || head->backend_fd < 3 || head->backend_fd > kMaxDescriptor) continue;
    if (auto loop = read_handle_loop(process.memory(), layout, begin + i)) return loop;
  }
  return std::nullopt;
}

struct FoundLibuv {
  LoopLayout layout;
  Address default_loop_pointer;
};

std::optional<FoundLibuv> find_libuv(const TargetProcess& process) {
  for (const Region& region : process.map().regions()) {
    if (!region.executable || !region.has_file()) continue;
    const auto elf = process.open_image(region);
    const auto symbols = elf ? find_loop_symbols(elf->file()) : std::nullopt;
    const auto code = symbols ? elf->file().to_address(region.offset) : std::nullopt;
    if (code)
      return FoundLibuv{symbols->layout, region.range.begin + (symbols->default_loop_pointer - *code)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<HandleLoop> read_handle_loop(Memory& memory, const LoopLayout& layout, Address address) {
  const auto head = memory.load<std::array<std::byte, kLoopHeadBytes>>(address);
  const auto body = memory.load<std::array<std::byte, kLoopBodyBytes>>(address);
  const auto known = head ? parse_loop_head(*head) : std::nullopt;
  if (!known || !body || !has_own_handle(*body, address)) return std::nullopt;
  HandleLoop loop;
  loop.address = address;
  loop.active_requests = memory.load<std::uint32_t>(address + kActiveRequests).value_or(0);
  const std::uint64_t now = memory.load<std::uint64_t>(address + layout.time_offset).value_or(0);
  const Address end = address + kLoopHandles;
  Address before = end;
  Address node = known->first_handle;
  while (node != end) {
    const Address handle{node.value - kHandleQueue};
    const auto raw = memory.load<RawHandle>(handle);
    // Without pointers back a damaged list could be a circle.
    const bool belongs = raw && raw->loop == address.value && raw->before == before.value;
    if (!belongs || raw->type >= std::size(kTypes) || loop.handles.size() >= kMaxHandles) break;
    loop.handles.push_back(describe(memory, handle, *raw, now));
    before = node;
    node = Address{raw->next};
  }
  return loop.handles.empty() ? std::nullopt : std::optional(std::move(loop));
}

Result<std::vector<HandleLoop>> find_handle_loops(TargetProcess& process,
                                                  std::span<const TargetThread> threads) {
  const auto libuv = find_libuv(process);
  if (!libuv)
    return fail(
        ErrorCode::kUnsupported,
        "the binaries of the process have no libuv whose event loops are understood (1.39 and later)");
  std::vector<HandleLoop> loops;
  const auto main_loop = process.memory().load<std::uint64_t>(libuv->default_loop_pointer);
  if (main_loop && *main_loop != 0) {
    if (auto loop = read_handle_loop(process.memory(), libuv->layout, Address{*main_loop})) {
      loop->tid = process.pid();
      loops.push_back(std::move(*loop));
    }
  }
  for (const TargetThread& thread : threads) {
    if (thread.tid == process.pid()) continue;
    if (auto loop = loop_on_stack(process, libuv->layout, thread)) {
      loop->tid = thread.tid;
      loops.push_back(std::move(*loop));
    }
  }
  return loops;
}

}  // namespace nodescope
