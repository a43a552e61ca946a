#include "app/live_source_maps.h"

#include <algorithm>

#include "source_maps/source_names.h"

namespace nodescope {

namespace {

// Of a cluster, the first know the files of all.
constexpr std::size_t kMaxProcesses = 64;

}  // namespace

void LiveSourceMaps::remember(const std::vector<pid_t>& pids) {
  if (options_.off) return;
  for (const pid_t pid : pids) {
    if (pids_.size() >= kMaxProcesses || std::ranges::find(pids_, pid) != pids_.end()) continue;
    pids_.push_back(pid);
    files_.remember(pid);
  }
}

Result<void> LiveSourceMaps::apply(Profile& profile) {
  Diagnostics diagnostics;
  auto mapped = map_to_sources(profile, options_, [&](const std::string& name, std::uint64_t limit) {
    return read(name, limit, diagnostics);
  });
  profile.diagnostics.merge(diagnostics);
  return mapped;
}

Result<std::string> LiveSourceMaps::read(const std::string& name, std::uint64_t limit,
                                         Diagnostics& diagnostics) {
  const auto path = path_of_source(name);
  if (!path) return fail(ErrorCode::kNotFound, name + " is no file");
  for (const pid_t pid : pids_) {
    auto file = files_.read(pid, pids_, *path, limit, diagnostics);
    if (file) return std::move(file->text);
  }
  return fail(ErrorCode::kNotFound, name + ": no process has it");
}

}  // namespace nodescope
