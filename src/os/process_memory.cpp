#include "os/process_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace nodescope {

namespace {

constexpr std::size_t kBatch = 64;  // the kernel takes up to 1,024 pieces; more than these gain nothing

// How many of the first pieces were read completely.  The kernel stops at the first that it cannot read.
std::size_t read_batch(pid_t pid, std::span<const RemoteBytes> pieces) {
  std::array<iovec, kBatch> local{};
  std::array<iovec, kBatch> remote{};
  std::size_t remote_count = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    local[i] = {pieces[i].into.data(), pieces[i].into.size()};
    if (i != 0 && pieces[i].address == pieces[i - 1].address + pieces[i - 1].into.size()) {
      remote[remote_count - 1].iov_len += pieces[i].into.size();
      continue;
    }
    // The address is of the other process: never followed here.
    remote[remote_count++] = {reinterpret_cast<void*>(pieces[i].address), pieces[i].into.size()};  // NOLINT
  }
  const ssize_t count = ::process_vm_readv(pid, local.data(), pieces.size(), remote.data(), remote_count, 0);
  std::size_t left = count > 0 ? static_cast<std::size_t>(count) : 0;
  std::size_t whole = 0;
  while (whole < pieces.size() && pieces[whole].into.size() <= left) {
    left -= pieces[whole].into.size();
    ++whole;
  }
  return whole;
}

}  // namespace

std::vector<bool> read_process_memory(pid_t pid, std::span<const RemoteBytes> pieces) {
  std::vector<bool> done(pieces.size(), false);
  std::size_t next = 0;
  while (next < pieces.size()) {
    const auto batch = pieces.subspan(next, std::min(kBatch, pieces.size() - next));
    const std::size_t whole = read_batch(pid, batch);
    std::fill_n(done.begin() + static_cast<std::ptrdiff_t>(next), whole, true);
    next += std::min(batch.size(), whole + 1);  // past the one that failed
  }
  return done;
}

// Of a process that has memory this address cannot be read, and of one that may not be looked into nothing.
bool has_lost_its_memory(pid_t pid) {
  std::byte byte{};
  const iovec local{&byte, sizeof byte};
  const iovec remote{nullptr, sizeof byte};
  return ::process_vm_readv(pid, &local, 1, &remote, 1, 0) < 0 && errno == ESRCH;
}

}  // namespace nodescope
