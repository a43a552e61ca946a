#include "os/random.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <cerrno>
#include <vector>

#include "os/file.h"

namespace nodescope {

Result<std::string> random_hex(std::size_t bytes) {
  std::vector<unsigned char> random(bytes);
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t count = ::getrandom(random.data() + filled, bytes - filled, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(errno, "asking the kernel for random bytes");
    filled += static_cast<std::size_t>(count);
  }
  return fmt::format("{:02x}", fmt::join(random, ""));
}

}  // namespace nodescope
