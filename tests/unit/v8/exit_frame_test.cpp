#include "v8/exit_frame.h"

#include <gtest/gtest.h>

#include "os/file.h"

namespace nodescope::v8 {
namespace {

TEST(ExitFrames, AProgramWithoutV8HasNone) {
  auto source = open_file("/proc/self/exe");
  ASSERT_TRUE(source) << source.error().message;
  const auto elf = OwnedElf::read(std::move(*source));
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_FALSE(ExitFrames::find(elf->file()));
}

}  // namespace
}  // namespace nodescope::v8
