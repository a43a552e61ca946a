#include "base/path.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

TEST(PathTest, FileName) {
  EXPECT_EQ(file_name_of("/usr/bin/node"), "node");
  EXPECT_EQ(file_name_of("node"), "node");
  EXPECT_EQ(file_name_of("/usr/bin/"), "");
  EXPECT_EQ(file_name_of(""), "");
}

TEST(PathTest, Folder) {
  EXPECT_EQ(folder_of("/usr/bin/node"), "/usr/bin");
  EXPECT_EQ(folder_of("/node"), "/");
  EXPECT_EQ(folder_of("bin/node"), "bin");
  EXPECT_EQ(folder_of("node"), ".");
  EXPECT_EQ(folder_of(""), ".");
}

}  // namespace
}  // namespace nodescope
