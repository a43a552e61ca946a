#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/flat_map.h"
#include "base/result.h"
#include "capture/source_keeper.h"
#include "os/foreign_files.h"

namespace nodescope {

// Source files as processes have them, each below its own root folder and with its own rights: any process
// can name any file of the machine.
class ProcessSources {
 public:
  // What was opened while a process ran can be read when it has ended.
  void remember(pid_t pid) { static_cast<void>(files_of(pid)); }

  // The file that process `namer` names.  kNotFound if it has none; kUnsupported if one of `others`, in
  // another container, has a different one, because a profile does not tell whose frame is whose.  One that
  // was changed after its process began is noted: lines may be those of another text.
  Result<SourceFile> read(pid_t namer, const std::vector<pid_t>& others, const std::string& path,
                          std::uint64_t limit, Diagnostics& diagnostics);

 private:
  // Those of processes with the same rights are one.
  Result<ForeignFiles*> files_of(pid_t pid);
  bool differs_elsewhere(const ForeignFiles& own, const std::vector<pid_t>& others, const std::string& path,
                         std::uint64_t limit, const std::string& text);

  std::deque<ForeignFiles> files_;
  FlatMap<pid_t, FileRights> last_rights_;
};

}  // namespace nodescope
