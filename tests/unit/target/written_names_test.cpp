#include "target/written_names.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/jitdump_builder.h"

namespace nodescope {
namespace {

using testing::DumpBuilder;

constexpr std::string_view kCode = "sixteen bytes...";

// As it is read from a file that grows by `step` bytes at a time.
void add_in_steps(WrittenNames& names, const std::string& dump, std::size_t step) {
  Diagnostics diagnostics;
  std::size_t used = 0;
  for (std::size_t end = step; used < dump.size(); end = std::min(end + step, dump.size())) {
    const auto added =
        names.add_dump(as_byte_span(std::string_view(dump).substr(used, end - used)), used == 0, diagnostics);
    ASSERT_TRUE(added) << added.error().message;
    used += *added;
    if (end == dump.size()) break;
  }
  EXPECT_EQ(used, dump.size());
  EXPECT_TRUE(diagnostics.entries().empty());
}

TEST(WrittenNames, TakesWholeLinesOfAMapOnly) {
  WrittenNames names;
  const std::string text = "1000 20 RegExp:a+\n1010 10 other\nnonsense\n2000 10 unfin";
  EXPECT_EQ(names.add_map(text), text.find("2000"));
  EXPECT_EQ(names.name_at(Address{0x1005}), "RegExp:a+");
  EXPECT_EQ(names.name_at(Address{0x1010}), "other");
  EXPECT_EQ(names.name_at(Address{0x2000}), "");
  names.add_map("2000 10 unfinished\n");
  EXPECT_EQ(names.name_at(Address{0x200f}), "unfinished");
  EXPECT_EQ(names.name_at(Address{0x2010}), "");
}

TEST(WrittenNames, ReadsADumpThatGrowsInAnySteps) {
  const std::string dump = DumpBuilder()
                               .load(1, 0x1000, std::string(kCode), "first")
                               .lines(2, 0x2000, "file.js", 1)
                               .load(3, 0x2000, std::string(kCode), "second")
                               .load(4, 0x1008, std::string(kCode), "third")
                               .bytes();
  for (std::size_t step = 1; step <= dump.size(); ++step) {
    WrittenNames names;
    add_in_steps(names, dump, step);
    EXPECT_EQ(names.name_at(Address{0x1007}), "first");
    EXPECT_EQ(names.name_at(Address{0x1008}), "third");
    EXPECT_EQ(names.name_at(Address{0x2000}), "second");
  }
}

TEST(WrittenNames, CodeThatMovedFromSomewhereTakesTheNameAway) {
  WrittenNames names;
  Diagnostics diagnostics;
  DumpBuilder builder;
  const std::size_t first_bytes = builder.load(1, 0x1000, std::string(kCode), "first", 1).bytes().size();
  const std::string_view dump = builder.move(2, 0x9000, 0x1000, kCode.size(), 7).bytes();
  ASSERT_TRUE(names.add_dump(as_byte_span(dump.substr(0, first_bytes)), true, diagnostics));
  ASSERT_TRUE(names.add_dump(as_byte_span(dump.substr(first_bytes)), false, diagnostics));
  EXPECT_EQ(names.name_at(Address{0x1000}), "");
  EXPECT_EQ(diagnostics.count("jitdump record not understood"), 1u);
}

TEST(WrittenNames, RefusesWhatIsNoDump) {
  WrittenNames names;
  Diagnostics diagnostics;
  EXPECT_FALSE(names.add_dump(as_byte_span(std::string(100, 'x')), true, diagnostics));
  EXPECT_FALSE(names.add_dump(as_byte_span(std::string(100, '\0')), false, diagnostics));
}

}  // namespace
}  // namespace nodescope
