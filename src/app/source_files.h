#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// The sources that recordings name, on the disk of this machine.  A recording may come from anywhere and name
// any file, so nothing is given that our own user could not read, and nothing that is not a plain file.
class SourceFiles {
 public:
  // Files of a process in a container are not taken: what has this name here is another file.
  void add(const Profile& profile);

  // kPermission: no frame names it, nor a file in whose folder it is a source map.  kNotFound: not at hand.
  Result<std::string> read(const std::string& name) const;

  // What `generated`, which a frame names, was made from: a path that its source map leads to.
  // kPermission: it does not.
  Result<std::string> read_original(const std::string& path, const std::string& generated);

 private:
  bool allows(std::string_view name) const;
  std::vector<std::string> originals_of(const std::string& generated) const;

  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> folders_;  // of them, with the slash at the end
  // Of the file that was asked about last: a page wants all of one bundle.
  std::string generated_;
  std::vector<std::string> originals_;
};

// Puts the texts of the files that `profile` names into it, under the same rules.  Those that it has stay.
void keep_sources_of_disk(Profile& profile);

}  // namespace nodescope
