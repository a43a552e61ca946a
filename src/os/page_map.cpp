#include "os/page_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace nodescope {

namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;  // or shared

}  // namespace

Result<PageMap> PageMap::open(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/pagemap", pid);
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) {
    const int error = errno;
    return fail(error == EACCES || error == EPERM ? ErrorCode::kPermission : ErrorCode::kSystem,
                fmt::format("reading {}: {}", path, std::strerror(error)));
  }
  return PageMap(std::move(fd));
}

template <typename Visit>
bool PageMap::for_each_page(std::uint64_t begin, std::uint64_t end, const Visit& visit) const {
  std::array<std::uint64_t, 8192> entries{};
  std::uint64_t page = begin / kPageBytes;
  const std::uint64_t last = (end + kPageBytes - 1) / kPageBytes;
  while (page < last) {
    const std::size_t count = std::min<std::uint64_t>(entries.size(), last - page);
    const ssize_t got = ::pread(fd_.get(), entries.data(), count * sizeof(std::uint64_t),
                                static_cast<off_t>(page * sizeof(std::uint64_t)));
    const std::size_t whole = got <= 0 ? 0 : static_cast<std::size_t>(got) / sizeof(std::uint64_t);
    if (whole == 0) return false;
    for (std::size_t i = 0; i < whole; ++i) visit(page + i, entries[i]);
    page += whole;
  }
  return true;
}

std::optional<std::uint64_t> PageMap::resident_bytes(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t pages = 0;
  const bool all = for_each_page(
      begin, end, [&](std::uint64_t, std::uint64_t entry) { pages += (entry & kPresent) != 0 ? 1 : 0; });
  return all ? std::optional(pages * kPageBytes) : std::nullopt;
}

std::optional<bool> PageMap::has_own_pages(std::uint64_t begin, std::uint64_t end) const {
  bool has = false;
  const bool all = for_each_page(begin, end, [&](std::uint64_t, std::uint64_t entry) {
    has = has || (entry & kSwapped) != 0 || (entry & (kPresent | kOfFile)) == kPresent;
  });
  return all ? std::optional(has) : std::nullopt;
}

std::optional<std::vector<PageMap::Run>> PageMap::runs(std::uint64_t begin, std::uint64_t end) const {
  std::vector<Run> runs;
  const bool all = for_each_page(begin, end, [&](std::uint64_t page, std::uint64_t entry) {
    if ((entry & (kPresent | kSwapped)) == 0) return;
    const std::uint64_t from = page * kPageBytes;
    if (runs.empty() || runs.back().second != from) runs.emplace_back(from, from);
    runs.back().second = from + kPageBytes;
  });
  return all ? std::optional(std::move(runs)) : std::nullopt;
}

}  // namespace nodescope
