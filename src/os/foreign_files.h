#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/file.h"
#include "os/procfs.h"
#include "os/user.h"

namespace nodescope {

// By whose rights and in which file system a process opens a file.
struct FileRights {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;       // the further ones, sorted
  std::uint64_t capabilities = 0;  // effective
  FileIdentity root;
  std::string mount_namespace;

  bool operator==(const FileRights&) const = default;
  bool has_same_files(const FileRights& other) const {
    return root == other.root && mount_namespace == other.mount_namespace;
  }
};

// From /proc/PID/status; kUnsupported if a line is missing.
Result<FileRights> parse_file_rights(std::string_view status);

struct ForeignText {
  std::string text;
  std::string real_path;         // where links led
  std::int64_t modified_ns = 0;  // since 1970
};

// Reads files as another process would, for what that process names can be any file of the machine: below its
// root folder, with its user, groups and capabilities and no right of ours.  A helper process does it, which
// has given up everything else; a file that does not answer (FUSE, NFS) keeps us for a second, once.
class ForeignFiles {
 public:
  // Remembers the process's root folder: it stays what it was when the process ends.
  static Result<ForeignFiles> open(pid_t pid);
  // As a program of `user` would, which has no other group than theirs: only root can.
  static Result<ForeignFiles> of_user(const User& user);
  ForeignFiles(ForeignFiles&& other) noexcept;
  ForeignFiles& operator=(ForeignFiles&&) = delete;
  ~ForeignFiles();

  const FileRights& rights() const { return rights_; }

  // A regular file of at most `limit` bytes.  kPermission: the process may not read it.
  Result<ForeignText> read(const std::string& path, std::uint64_t limit);

 private:
  ForeignFiles(FileRights rights, FileDescriptor root) : rights_(std::move(rights)), root_(std::move(root)) {}

  Result<void> start();
  void end();

  FileRights rights_;
  FileDescriptor root_;
  pid_t helper_ = 0;
  FileDescriptor channel_;
  bool given_up_ = false;
};

}  // namespace nodescope
