#include "binary/generated_code.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

TEST(Paths, TellsGeneratedCodeAndJitdumps) {
  for (const char* path :
       {"//anon", "[anon:v8]", "/dev/zero (deleted)", "/memfd:code (deleted)", "[heap]", ""}) {
    EXPECT_TRUE(is_generated_code_path(path)) << path;
  }
  for (const char* path : {"/usr/bin/node", "[vdso]", "[vsyscall]", "/tmp/perf-1.map"}) {
    EXPECT_FALSE(is_generated_code_path(path)) << path;
  }
  EXPECT_TRUE(is_jitdump_path("/srv/app/jit-123.dump"));
  EXPECT_TRUE(is_jitdump_path("jit-1.dump"));
  for (const char* path : {"/srv/jit-.dump", "/srv/jit-x.dump", "/srv/jit-1.dump/a", "/srv/xjit-1.dump"}) {
    EXPECT_FALSE(is_jitdump_path(path)) << path;
  }
}

}  // namespace
}  // namespace nodescope
