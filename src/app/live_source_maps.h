#pragma once

#include <sys/types.h>

#include <vector>

#include "app/source_map_options.h"
#include "capture/process_sources.h"

namespace nodescope {

// Source maps of running processes: their files are read as they have them, with their rights, so also from
// inside of a container.
class LiveSourceMaps {
 public:
  explicit LiveSourceMaps(SourceMapOptions options) : options_(std::move(options)) {}

  // To be called while they run.  Those that are known already cost nothing.
  void remember(const std::vector<pid_t>& pids);
  // Leads the frames of `profile` to their sources.
  Result<void> apply(Profile& profile);

 private:
  Result<std::string> read(const std::string& name, std::uint64_t limit, Diagnostics& diagnostics);

  SourceMapOptions options_;
  ProcessSources files_;
  std::vector<pid_t> pids_;
};

}  // namespace nodescope
