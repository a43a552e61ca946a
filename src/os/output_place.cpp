#include "os/output_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <ranges>
#include <string_view>

#include "base/text.h"

namespace nodescope {

namespace {

constexpr int kMaxLinks = 40;  // as in the kernel
constexpr int kLook = O_PATH | O_NOFOLLOW | O_CLOEXEC;

bool is_ours_or_roots(const struct stat& status) {
  return status.st_uid == 0 || status.st_uid == ::geteuid();
}

// Nobody but root and we can put something there.
bool is_closed_to_others(const struct stat& folder) {
  return is_ours_or_roots(folder) && (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool is_in_proc(int fd) {
  struct statfs system{};
  return ::fstatfs(fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

// /proc/self/fd, by whatever way it was reached.
bool is_own_descriptors(const struct stat& folder) {
  struct stat own{};
  return ::stat("/proc/self/fd", &own) == 0 && own.st_dev == folder.st_dev && own.st_ino == folder.st_ino;
}

std::optional<std::string> text_of_link(int link) {
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlinkat(link, "", text.data(), text.size());
  if (size <= 0 || static_cast<std::size_t>(size) == text.size()) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(size));
}

FileDescriptor open_start(std::string_view path) {
  return FileDescriptor(::open(path.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

// The steps from one folder to the next.
struct OutputPlace::Walk {
  std::string attempt;
  FileDescriptor folder;
  std::deque<std::string> left;  // names that are still to come; the last is that of the file
  int links = 0;
  bool is_own = false;  // what was found is one of our descriptors

  void enter(std::string_view path) {
    std::deque<std::string> names;
    for (const auto range : std::views::split(path, '/')) {
      const std::string_view name(range.begin(), range.end());
      if (!name.empty() && name != ".") names.emplace_back(name);
    }
    // "x/" is the folder x, and so is "x/.": no file can have such a name.
    if (path.ends_with('/') || path.ends_with("/.")) names.emplace_back(".");
    left.insert(left.begin(), names.begin(), names.end());
  }

  std::unexpected<Error> refuse(const std::string& why) const {
    return fail(ErrorCode::kPermission, fmt::format("{}: {}", attempt, why));
  }

  // Where `link` leads is what comes next.
  Result<void> follow(const FileDescriptor& link, const struct stat& status, const std::string& name) {
    if (!is_ours_or_roots(status)) {
      return refuse(fmt::format("{} is a link of user {}, neither root's nor yours: not followed",
                                printable(name), status.st_uid));
    }
    const auto text = text_of_link(link.get());
    if (!text || ++links > kMaxLinks) return fail_errno(ELOOP, attempt);
    if (text->starts_with('/')) folder = open_start("/");
    if (!folder.is_open()) return fail_errno(errno, attempt);
    enter(*text);
    return {};
  }

  // To the folder that holds the last name.
  Result<void> descend() {
    while (left.size() > 1) {
      const std::string name = std::move(left.front());
      left.pop_front();
      FileDescriptor next(::openat(folder.get(), name.c_str(), kLook));
      struct stat status{};
      if (!next.is_open() || ::fstat(next.get(), &status) != 0) return fail_errno(errno, attempt);
      if (!S_ISLNK(status.st_mode)) {
        folder = std::move(next);
      } else if (auto followed = follow(next, status, name); !followed) {
        return followed;
      }
    }
    return {};
  }

  // What has the last name; not open: nothing.
  Result<FileDescriptor> look(struct stat& status) const {
    FileDescriptor found(::openat(folder.get(), left.front().c_str(), kLook));
    if (!found.is_open() && errno == ENOENT) return found;
    if (!found.is_open() || ::fstat(found.get(), &status) != 0) return fail_errno(errno, attempt);
    if (S_ISDIR(status.st_mode)) return fail(ErrorCode::kUsage, attempt + ": it is a folder, not a file");
    if (S_ISBLK(status.st_mode)) return refuse("it is a block device");
    return found;
  }

  // A link of ours or of root to something that cannot be replaced is followed; any other is replaced itself.
  Result<FileDescriptor> find_special() {
    for (;;) {
      if (auto descended = descend(); !descended) return std::unexpected(descended.error());
      if (left.empty()) return FileDescriptor();
      struct stat around{};
      if (::fstat(folder.get(), &around) != 0) return fail_errno(errno, attempt);
      struct stat status{};
      auto found = look(status);
      if (!found) return found;
      if (!found->is_open() || S_ISREG(status.st_mode)) return FileDescriptor();
      if (!S_ISLNK(status.st_mode)) return check_special(std::move(*found), status, around);
      if (is_own_descriptors(around)) return own_descriptor();
      if (is_in_proc(found->get())) return refuse("it belongs to another process");
      const std::string name = std::move(left.front());
      left.clear();
      if (auto followed = follow(*found, status, name); !followed) return std::unexpected(followed.error());
    }
  }

  Result<FileDescriptor> own_descriptor() {
    is_own = true;
    const auto number = parse_number<int>(left.front());
    FileDescriptor copy(number ? ::fcntl(*number, F_DUPFD_CLOEXEC, 3) : -1);
    if (!copy.is_open()) return fail_errno(EBADF, attempt);
    return copy;
  }

  Result<FileDescriptor> check_special(FileDescriptor found, const struct stat& status,
                                       const struct stat& around) const {
    if (is_ours_or_roots(status) || is_closed_to_others(around)) return found;
    return refuse(fmt::format("it belongs to user {}, neither to root nor to you", status.st_uid));
  }
};

Result<FileDescriptor> OutputPlace::open_special() const {
  // The file that was looked at, whatever has its name by now.
  const std::string found = fmt::format("/proc/self/fd/{}", special_.get());
  FileDescriptor fd(is_own_descriptor_ ? ::fcntl(special_.get(), F_DUPFD_CLOEXEC, 3)
                                       : ::open(found.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (!fd.is_open()) return fail_errno(errno, "writing " + path_);
  return fd;
}

Result<OutputPlace> OutputPlace::find(const std::string& path) {
  Walk walk{"writing " + path, open_start(path), {}};
  if (!walk.folder.is_open()) return fail_errno(errno, walk.attempt);
  walk.enter(path);
  if (walk.left.empty()) return fail_errno(path.empty() ? ENOENT : EISDIR, walk.attempt);
  if (auto descended = walk.descend(); !descended) return std::unexpected(descended.error());
  struct stat status{};
  auto found = walk.look(status);
  if (!found) return std::unexpected(found.error());
  FileDescriptor folder(::fcntl(walk.folder.get(), F_DUPFD_CLOEXEC, 3));
  if (!folder.is_open()) return fail_errno(errno, walk.attempt);
  OutputPlace place(std::move(folder), walk.left.front(), path);
  if (!found->is_open()) return place;
  if (S_ISREG(status.st_mode)) {
    place.replaced_mode_ = status.st_mode & ACCESSPERMS;
  } else if (!S_ISLNK(status.st_mode) || is_ours_or_roots(status)) {
    auto special = walk.find_special();
    if (special) {
      place.special_ = std::move(*special);
      place.is_own_descriptor_ = walk.is_own;
    } else if (special.error().code != ErrorCode::kNotFound) {  // a link to nothing is replaced
      return std::unexpected(special.error());
    }
  }
  return place;
}

}  // namespace nodescope
