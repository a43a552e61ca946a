#include "capture/process_sources.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "os/machine.h"
#include "os/procfs.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

// On the wall clock, since 1970; up to a tick of /proc's clock after the true one.
std::optional<std::int64_t> start_of_process(pid_t pid) {
  const auto age = process_age_ns(pid);
  if (!age) return std::nullopt;
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  return now.count() - static_cast<std::int64_t>(*age) + static_cast<std::int64_t>(clock_tick_ns());
}

// One process for each root folder.
std::vector<pid_t> with_different_roots(const std::vector<pid_t>& pids) {
  std::vector<FileIdentity> roots;
  std::vector<pid_t> chosen;
  for (const pid_t pid : pids) {
    const auto root = identify_root(pid);
    if (!root || std::ranges::find(roots, *root) != roots.end()) continue;
    roots.push_back(*root);
    chosen.push_back(pid);
  }
  return chosen;
}

}  // namespace

Result<std::string> read_source_of(const std::vector<pid_t>& pids, const std::string& path,
                                   std::uint64_t limit, Diagnostics& diagnostics) {
  Result<std::string> found = fail(ErrorCode::kNotFound, path + ": its process has ended");
  bool changed = false;
  for (const pid_t pid : with_different_roots(pids)) {
    auto content = read_text_in_root(pid, path, limit);
    if (!content) {
      if (!found) found = std::unexpected(content.error());
      continue;
    }
    if (found && *found != content->text)
      return fail(ErrorCode::kUnsupported, path + ": different in two containers");
    const auto started = start_of_process(pid);
    changed = changed || (started && content->modified_ns > *started);
    found = std::move(content->text);
  }
  if (changed) {
    diagnostics.warn(
        "source files that were changed after their process began: lines may be those of another text", path);
  }
  return found;
}

}  // namespace nodescope
