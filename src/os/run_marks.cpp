#include "os/run_marks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace nodescope {

namespace {

// systemd and its like give every user a folder of his own; elsewhere, and in a container without /run, one
// in /tmp has to do.
std::string folder_path() {
  const uid_t user = ::geteuid();
  std::error_code error;
  if (user == 0 && std::filesystem::is_directory("/run", error)) return "/run/nodescope";
  const char* own = std::getenv("XDG_RUNTIME_DIR");
  if (user != 0 && own != nullptr && *own == '/') return std::string(own) + "/nodescope";
  return fmt::format("/tmp/nodescope-{}", user);
}

// In /tmp anybody may have made a folder, or a link, of this name.
Result<FileDescriptor> open_folder(const std::string& path) {
  const std::string attempt = "using the folder " + path;
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(errno, attempt);
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return fail_errno(errno, attempt);
  struct stat status{};
  if (::fstat(folder.get(), &status) != 0) return fail_errno(errno, attempt);
  if (status.st_uid != ::geteuid() || (status.st_mode & 022) != 0)
    return fail(ErrorCode::kPermission, attempt + ": it belongs to somebody else");
  return folder;
}

bool is_abandoned(int folder, const char* name) {
  const FileDescriptor file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return file.is_open() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

Result<RunMark> RunMark::create(const std::string& name) {
  const auto folder = open_folder(folder_path());
  if (!folder) return std::unexpected(folder.error());
  FileDescriptor file(
      ::openat(folder->get(), name.c_str(), O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string path = folder_path() + "/" + name;
  if (!file.is_open()) return fail_errno(errno, "writing " + path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::kSystem, path + " is in use: another nodescope is at work on this process");
  return RunMark(std::move(file), path);
}

void RunMark::remove() {
  if (file_.is_open()) ::unlink(path_.c_str());
  file_ = {};
}

bool has_mark(const std::string& name) {
  std::error_code error;
  return std::filesystem::exists(folder_path() + "/" + name, error);
}

std::vector<std::string> list_abandoned_marks(const std::string& prefix) {
  std::vector<std::string> names;
  const std::string path = folder_path();
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return names;
  const auto folder = open_folder(path);
  if (!folder) return names;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && is_abandoned(folder->get(), name.c_str()))
      names.push_back(std::move(name));
  }
  return names;
}

void remove_abandoned_mark(const std::string& name) {
  ::unlink((folder_path() + "/" + name).c_str());
}

}  // namespace nodescope
