#include "os/page_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace nodescope {

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

std::optional<std::uint64_t> PageMap::resident_bytes(std::uint64_t begin, std::uint64_t end) const {
  constexpr std::uint64_t kPageBytes = 4096;
  constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
  std::array<std::uint64_t, 1024> entries{};
  std::uint64_t pages = 0;
  std::uint64_t page = begin / kPageBytes;
  const std::uint64_t last = (end + kPageBytes - 1) / kPageBytes;
  while (page < last) {
    const std::size_t count = std::min<std::uint64_t>(entries.size(), last - page);
    const ssize_t got = ::pread(fd_.get(), entries.data(), count * sizeof(std::uint64_t),
                                static_cast<off_t>(page * sizeof(std::uint64_t)));
    if (got <= 0) return std::nullopt;
    const std::size_t whole = static_cast<std::size_t>(got) / sizeof(std::uint64_t);
    if (whole == 0) return std::nullopt;
    pages += static_cast<std::uint64_t>(
        std::count_if(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(whole),
                      [](std::uint64_t entry) { return (entry & kPresent) != 0; }));
    page += whole;
  }
  return pages * kPageBytes;
}

}  // namespace nodescope
