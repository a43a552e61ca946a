#include "os/user.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <ranges>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "os/file.h"

namespace nodescope {

namespace {

constexpr uid_t kNobody = 65534;

std::optional<uid_t> id_in_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::nullopt : parse_number<uid_t>(text);
}

// /etc/passwd itself: a static program cannot load what getpwuid would ask besides.
std::optional<std::string> home_of(uid_t uid) {
  std::ifstream passwd("/etc/passwd");
  for (std::string line; std::getline(passwd, line);) {
    std::vector<std::string> fields;
    for (const auto part : std::views::split(line, ':')) fields.emplace_back(part.begin(), part.end());
    if (fields.size() >= 6 && parse_number<uid_t>(fields[2]) == uid) return fields[5];
  }
  return std::nullopt;
}

void set_environment(const User& user) {
  if (!user.name.empty()) {
    ::setenv("USER", user.name.c_str(), 1);
    ::setenv("LOGNAME", user.name.c_str(), 1);
  }
  ::setenv("HOME", user.home.empty() ? "/" : user.home.c_str(), 1);
  const std::string runtime = "/run/user/" + std::to_string(user.uid);
  struct stat status{};
  if (::stat(runtime.c_str(), &status) == 0 && status.st_uid == user.uid) {
    ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
    ::setenv("DBUS_SESSION_BUS_ADDRESS", ("unix:path=" + runtime + "/bus").c_str(), 1);
  } else {
    ::unsetenv("XDG_RUNTIME_DIR");
  }
}

}  // namespace

bool is_root() {
  return ::geteuid() == 0;
}

std::optional<User> sudo_user() {
  if (!is_root()) return std::nullopt;
  const auto uid = id_in_environment("SUDO_UID");
  const auto gid = id_in_environment("SUDO_GID");
  if (!uid || !gid || *uid == 0) return std::nullopt;
  const char* name = std::getenv("SUDO_USER");
  return User{*uid, *gid, name == nullptr ? "" : name, home_of(*uid).value_or("")};
}

User nobody() {
  return {kNobody, kNobody, "nobody", ""};
}

Result<void> become(const User& user) {
  const std::string attempt = "becoming user " + std::to_string(user.uid);
  if (::setgroups(1, &user.gid) != 0 || ::setresgid(user.gid, user.gid, user.gid) != 0 ||
      ::setresuid(user.uid, user.uid, user.uid) != 0) {
    return fail_errno(errno, attempt);
  }
  if (::setuid(0) == 0) return fail(ErrorCode::kSystem, attempt + ": the way back is still open");
  set_environment(user);
  return {};
}

}  // namespace nodescope
