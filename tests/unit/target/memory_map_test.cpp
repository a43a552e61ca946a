#include "target/memory_map.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

constexpr std::string_view kMaps =
    "00400000-00b6f000 r--p 00000000 fe:00 5308741                            /opt/my app/node\n"
    "00b6f000-00b71000 r-xp 0076f000 fe:00 5308741                            /opt/my app/node\n"
    "7f0000000000-7f0000040000 rwxp 00000000 00:00 0 \n"
    "7f0000040000-7f0000041000 r-xp 00000000 00:00 0                          [anon:v8]\n"
    "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]\n";

TEST(MemoryMap, RegionsByAddress) {
  const MemoryMap map = MemoryMap::parse(kMaps);
  ASSERT_EQ(map.regions().size(), 5u);
  const Region* code = map.find(Address{0xb70000});
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->path, "/opt/my app/node");
  EXPECT_TRUE(code->executable);
  EXPECT_FALSE(code->writable);
  EXPECT_EQ(code->offset, FileOffset{0x76f000});
  EXPECT_EQ(code->inode, 5308741u);
  EXPECT_EQ(code->device, "fe:00");
  EXPECT_TRUE(map.find(Address{0x7f0000000000})->anonymous());
  EXPECT_TRUE(map.find(Address{0x7f0000040fff})->anonymous());
  EXPECT_FALSE(map.find(Address{0x7ffc00000000})->anonymous());
}

TEST(MemoryMap, NothingBetweenAndAtTheEnds) {
  const MemoryMap map = MemoryMap::parse(kMaps);
  EXPECT_EQ(map.find(Address{0}), nullptr);
  EXPECT_EQ(map.find(Address{0xb71000}), nullptr);
  EXPECT_EQ(map.find(Address{~std::uint64_t{0}}), nullptr);
  EXPECT_EQ(MemoryMap{}.find(Address{1}), nullptr);
}

TEST(MemoryMap, DamagedLinesAreLeftOut) {
  EXPECT_EQ(MemoryMap::parse(
                "nonsense\n20-10 r-xp 0 0:0 0\n10-20 r 0 0:0 0\n10-20 r-xp 0 0:0 0\n15-30 r-xp 0 0:0 0")
                .regions()
                .size(),
            1u);
  for (std::size_t size = 0; size <= kMaps.size(); ++size) MemoryMap::parse(kMaps.substr(0, size));
}

}  // namespace
}  // namespace nodescope
