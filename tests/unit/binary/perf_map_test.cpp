#include "binary/perf_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nodescope {
namespace {

std::string name_at(const PerfMap& map, std::uint64_t address) {
  return std::string(map.find(Address{address}).value_or("-"));
}

TEST(PerfMap, FindsNamesWithSpaces) {
  Diagnostics diagnostics;
  const PerfMap map =
      PerfMap::parse("1000 20 JS:*fib /app/x.js:3:9\n0x1040 0x10 RegExp:a b; (c)\n", diagnostics);
  EXPECT_EQ(name_at(map, 0xFFF), "-");
  EXPECT_EQ(name_at(map, 0x1000), "JS:*fib /app/x.js:3:9");
  EXPECT_EQ(name_at(map, 0x101F), "JS:*fib /app/x.js:3:9");
  EXPECT_EQ(name_at(map, 0x1020), "-");
  EXPECT_EQ(name_at(map, 0x1045), "RegExp:a b; (c)");
  EXPECT_TRUE(diagnostics.entries().empty());
}

TEST(PerfMap, TheLastLineThatCoversAnAddressCounts) {
  Diagnostics diagnostics;
  const PerfMap map = PerfMap::parse(
      "1000 100 old\n"
      "1080 100 newer\n"
      "10c0 10 newest\n"
      "1000 10 reused\n",
      diagnostics);
  EXPECT_EQ(name_at(map, 0x1005), "reused");
  EXPECT_EQ(name_at(map, 0x1010), "old");
  EXPECT_EQ(name_at(map, 0x107F), "old");
  EXPECT_EQ(name_at(map, 0x1080), "newer");
  EXPECT_EQ(name_at(map, 0x10C0), "newest");
  EXPECT_EQ(name_at(map, 0x10D0), "newer");
  EXPECT_EQ(name_at(map, 0x117F), "newer");
  EXPECT_EQ(name_at(map, 0x1180), "-");
}

TEST(PerfMap, AnOlderLineThatCoversMoreShowsAroundANewerOne) {
  Diagnostics diagnostics;
  const PerfMap map = PerfMap::parse("1000 1000 wide\n1400 10 small\n", diagnostics);
  EXPECT_EQ(name_at(map, 0x13FF), "wide");
  EXPECT_EQ(name_at(map, 0x1400), "small");
  EXPECT_EQ(name_at(map, 0x1410), "wide");
  EXPECT_EQ(map.size(), 3u);
}

TEST(PerfMap, SkipsAndCountsWhatItDoesNotUnderstand) {
  Diagnostics diagnostics;
  const PerfMap map = PerfMap::parse(
      "1000 10 good\n"
      "line two of a name\n"
      "zz 10 x\n"
      "1000\n"
      "1000 10\n"
      "1000 10 \n"
      "ffffffffffffffff 10 wraps\n"
      "0 fffffffff too long\n"
      "\n"
      "2000 0 empty\n"
      "3000 10 last without newline",
      diagnostics);
  EXPECT_EQ(name_at(map, 0x1000), "good");
  EXPECT_EQ(name_at(map, 0x2000), "-");
  EXPECT_EQ(name_at(map, 0x3008), "last without newline");
  EXPECT_EQ(diagnostics.count("line of a perf map not understood"), 7u);
  EXPECT_EQ(diagnostics.entries()[0].example, "line 2: line two of a name");
}

TEST(PerfMap, IsEmptyWithoutLines) {
  Diagnostics diagnostics;
  EXPECT_EQ(name_at(PerfMap::parse("", diagnostics), 0), "-");
  EXPECT_EQ(name_at(PerfMap(), 0), "-");
}

TEST(PerfMap, KeepsItsSource) {
  Diagnostics diagnostics;
  auto map = PerfMap::read(std::make_unique<MemorySource>("10 10 kept\n", "perf-1.map"), diagnostics);
  ASSERT_TRUE(map);
  const PerfMap moved = std::move(*map);
  EXPECT_EQ(name_at(moved, 0x18), "kept");
}

// Against looking at every line from the last to the first.
TEST(PerfMap, AgreesWithASearchFromTheEnd) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    struct Line {
      std::uint64_t begin;
      std::uint64_t size;
    };
    std::vector<Line> lines(200);
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      lines[i] = {random() % 1000, random() % 60};
      text += fmt::format("{:x} {:x} f{}\n", lines[i].begin, lines[i].size, i);
    }
    Diagnostics diagnostics;
    const PerfMap map = PerfMap::parse(text, diagnostics);
    for (std::uint64_t address = 0; address < 1100; ++address) {
      std::string expected = "-";
      for (std::size_t i = lines.size(); i-- > 0 && expected == "-";) {
        if (address >= lines[i].begin && address < lines[i].begin + lines[i].size)
          expected = fmt::format("f{}", i);
      }
      ASSERT_EQ(name_at(map, address), expected) << address;
    }
  }
}

// A line that covers everything, and 200,000 within it: must not be quadratic.
// In time proportional to the lines and their logarithm: the square of these would take minutes.
TEST(PerfMap, SurvivesThatEverythingOverlaps) {
  std::string text = "0 ffffffff all\n";
  for (int i = 0; i < 200'000; ++i) text += fmt::format("{:x} ffff f{}\n", i * 16, i);
  Diagnostics diagnostics;
  const PerfMap map = PerfMap::parse(text, diagnostics);
  EXPECT_EQ(name_at(map, 199'999 * 16 + 0xFFFE), "f199999");
  EXPECT_EQ(name_at(map, 199'999 * 16 + 0xFFFF), "all");
}

}  // namespace
}  // namespace nodescope
