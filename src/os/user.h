#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"

namespace nodescope {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  std::string home;  // empty: not known
};

bool is_root();

// Who called sudo, if we are root by it.
std::optional<User> sudo_user();

// The user who owns nothing.
User nobody();

// Becomes `user` for good, with no other group than theirs, and tells programs that are started from now on
// whose home is whose.  Only root can.
Result<void> become(const User& user);

}  // namespace nodescope
