#include "target/other_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nodescope {
namespace {

TEST(OtherRuntime, IsNamedForWhatItIs) {
  EXPECT_THAT(describe_other_runtime("/root/.bun/bin/bun").value_or(""),
              testing::HasSubstr("JavaScriptCore"));
  EXPECT_THAT(describe_other_runtime("/usr/bin/deno (deleted)").value_or(""), testing::HasSubstr("Deno"));
  for (const char* other : {"/usr/bin/node", "/usr/bin/bundle", "/opt/deno/node", "", "bun/"})
    EXPECT_FALSE(describe_other_runtime(other)) << other;
}

}  // namespace
}  // namespace nodescope
