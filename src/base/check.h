#pragma once

#include <cstdio>
#include <cstdlib>

// Aborts on a bug of ours.  Never use it on anything that comes from a file, a target or a user.
#define NODESCOPE_CHECK(condition)                                                          \
  do {                                                                                      \
    if (!(condition)) [[unlikely]] {                                                        \
      std::fprintf(stderr, "nodescope: bug: %s (%s:%d)\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                         \
    }                                                                                       \
  } while (false)
