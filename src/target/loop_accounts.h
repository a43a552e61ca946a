#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "binary/address.h"
#include "binary/elf_file.h"

namespace nodescope {

// libuv's own account of an event loop, kept because Node.js sets UV_METRICS_IDLE_TIME on all its loops.
// Times are CLOCK_MONOTONIC.
struct LoopAccount {
  // Changes with every turn.  What libuv counts; before 1.45 the loop's time in milliseconds, which it takes
  // at the beginning of each turn, and a callback may take again.
  std::uint64_t turn = 0;
  std::uint64_t asleep_since_ns = 0;  // in epoll; 0: busy
  std::uint64_t idle_ns = 0;          // asleep in all, without the sleep that lasts

  bool operator==(const LoopAccount&) const = default;
};

// What a version of libuv has where.
struct LoopLayout {
  std::uint32_t version = 0;  // as uv_version() gives it: 0x012c02 is 1.44.2
  std::uint64_t time_offset = 0;

  // Since 1.45, with Node.js 20.3.
  bool counts_turns() const { return version >= 0x012d00; }
  bool is_known() const { return version >= 0x012700 && version < 0x020000 && time_offset != 0; }
};

// Where a libuv, alone or within node, says what this needs.
struct LoopSymbols {
  LoopLayout layout;
  // The pointer to the main thread's loop, which is null until that is made.
  FileAddress default_loop_pointer;
};
// By what the exported functions uv_default_loop, uv_now and uv_version load, so that a stripped binary does
// too. Nothing when it holds no libuv, or none that is understood.
std::optional<LoopSymbols> find_loop_symbols(const ElfFile& file);

// Of x86-64 code: the first "mov disp(%rip), %reg" as the address that it loads from when it stands at
// `begin`; the constant that uv_version returns; the displacement in "mov disp(%rdi), %rax".
std::optional<FileAddress> loaded_address(std::span<const std::byte> code, FileAddress begin);
std::optional<std::uint32_t> returned_constant(std::span<const std::byte> code);
std::optional<std::uint32_t> loaded_member(std::span<const std::byte> code);

// uv_loop_t: the same on all versions that have the account.
inline constexpr std::uint64_t kLoopFields = 40;   // internal_fields
inline constexpr std::uint64_t kLoopBackend = 64;  // backend_fd, of epoll
inline constexpr std::size_t kLoopHeadBytes = 72;

inline constexpr std::uint64_t kLoopHandles = 16;  // handle_queue: the next handle, the one before
// wq_async, a handle that every loop has, follows within; so does its pointer to the loop.
inline constexpr std::size_t kLoopBodyBytes = 512;

struct LoopHead {
  Address fields;
  std::int32_t backend_fd = -1;
  Address first_handle;  // its second word points back to the loop's queue
};
// `bytes` are the first kLoopHeadBytes of what may be a loop.  Nothing when it cannot be one.
std::optional<LoopHead> parse_loop_head(std::span<const std::byte> bytes);
// Whether `body`, the first kLoopBodyBytes of a loop, has a handle that belongs to `loop`.
bool has_own_handle(std::span<const std::byte> body, Address loop);

// Of internal_fields: so many bytes have the account.
std::size_t account_bytes(const LoopLayout& layout);
// Nothing when they cannot be those of a loop that keeps its idle time.  `turn` is not set where it is not
// counted.
std::optional<LoopAccount> parse_account(const LoopLayout& layout, std::span<const std::byte> bytes);

}  // namespace nodescope
