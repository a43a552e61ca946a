#include <gtest/gtest.h>

#include "support/fake_v8.h"
#include "v8/positions.h"
#include "v8/scripts.h"
#include "v8/strings.h"
#include "v8/version.h"

namespace nodescope::v8 {
namespace {

using testing::FakeHeap;

TEST(Positions, SignedEncodingTakesTheLastEntryAtOrBefore) {
  // Code +1 (zigzag 2) -> offset 0, statement at raw position 2 (zigzag 4); code +3 as an expression: -(3 +
  // 1) = -4, zigzag 7; position +4 (zigzag 8).
  const std::string table("\x02\x04\x07\x08", 4);
  EXPECT_FALSE(find_position(table, -1, PositionEncoding::kSigned));
  EXPECT_EQ(find_position(table, 0, PositionEncoding::kSigned), SourcePosition{2});
  EXPECT_EQ(find_position(table, 2, PositionEncoding::kSigned), SourcePosition{2});
  EXPECT_EQ(find_position(table, 3, PositionEncoding::kSigned), SourcePosition{6});
}

TEST(Positions, FlagsEncodingKeepsTwoBitsApart) {
  // (1 << 2 | statement) -> code 0; (3 << 2 | breakable) -> code 3.
  const std::string table("\x05\x04\x0e\x08", 4);
  EXPECT_EQ(find_position(table, 0, PositionEncoding::kFlags), SourcePosition{2});
  EXPECT_EQ(find_position(table, 3, PositionEncoding::kFlags), SourcePosition{6});
}

TEST(Positions, FieldsOfAPosition) {
  const SourcePosition position{(std::int64_t{3} << 31) | (std::int64_t{101} << 1)};
  EXPECT_EQ(position.offset(), 100);
  EXPECT_EQ(position.inlining_id(), 2);
  EXPECT_FALSE(position.is_external());
}

TEST(Positions, EveryDamagedTableEnds) {
  const std::string table("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x04\x80", 13);
  for (std::size_t size = 0; size <= table.size(); ++size) {
    find_position(table.substr(0, size), 1000, PositionEncoding::kSigned);
    find_position(table.substr(size), 1000, PositionEncoding::kFlags);
  }
}

TEST(Baseline, BytecodeByCodeOffset) {
  // All bytecodes have two bytes; with the prefix Wide (0) and wide operands 1 + 3.
  const std::string sizes = std::string(256, '\2') + std::string(256, '\3') + std::string(256, '\5');
  const std::string bytecodes("\x10\xaa\x00\x11\xaa\xbb\x12\xaa", 8);
  const std::string table("\x08\x04\x06\x05", 4);  // prologue 8, then 4, 6, 5 bytes
  const auto find = [&](std::int64_t offset) {
    return find_baseline_bytecode(table, offset, bytecodes, sizes);
  };
  EXPECT_EQ(find(8), 0);
  EXPECT_EQ(find(12), 0);
  EXPECT_EQ(find(13), 2);
  EXPECT_EQ(find(18), 2);
  EXPECT_EQ(find(19), 6);
  EXPECT_EQ(find(24), std::nullopt);
}

class Strings : public ::testing::Test {
 protected:
  std::optional<std::string> load(TaggedWord word) { return load_name(reader, word); }
  TaggedWord of_type(int type, std::uint32_t length, std::uint64_t first, std::uint64_t second) {
    const auto word = fake.object(type, {0, first, second});
    fake.memory.put(word.address() + 12, length);
    return word;
  }

  FakeHeap fake;
  Layout layout = testing::layout_of_node_20();
  Heap reader{fake.memory, layout};
};

TEST_F(Strings, EveryRepresentation) {
  const auto flat = fake.string("hello world");
  EXPECT_EQ(load(flat), "hello world");
  const auto cons = of_type(1 | 8, 13, flat.value, fake.string("!?").value);
  EXPECT_EQ(load(cons), "hello world!?");
  const auto sliced = of_type(3 | 8, 7, cons.value, FakeHeap::smi(6));
  EXPECT_EQ(load(sliced), "world!?");
  EXPECT_EQ(load(of_type(5 | 8, 7, sliced.value, 0)), "world!?");
  EXPECT_EQ(load(of_type(2 | 8, 5, 0, flat.address().value + 16)), "hello");
}

TEST_F(Strings, Latin1AndUtf16BecomeUtf8) {
  EXPECT_EQ(load(fake.string("gr\xf6\xdf"
                             "e")),
            "gr\xc3\xb6\xc3\x9f"
            "e");
  const auto wide = fake.object(0, {0, 0xDE00D83D00E4ull | (std::uint64_t{0xD800} << 48)});
  fake.memory.put(wide.address() + 12, std::uint32_t{4});
  EXPECT_EQ(load(wide), "\xc3\xa4\xf0\x9f\x98\x80\xef\xbf\xbd");
}

TEST_F(Strings, CirclesAndLiesEnd) {
  const auto circle = of_type(5 | 8, 4, 0, 0);
  fake.memory.put(circle.address() + 16, circle.value);
  EXPECT_EQ(load(circle), std::nullopt);
  const auto rope = of_type(1 | 8, 4, 0, 0);
  fake.memory.put(rope.address() + 16, rope.value);
  fake.memory.put(rope.address() + 24, rope.value);
  EXPECT_EQ(load(rope), std::nullopt);
  EXPECT_EQ(load(of_type(0 | 8, 0x7FFFFFFF, 0, 0)), std::nullopt);
  EXPECT_EQ(load(of_type(3 | 8, 100, fake.string("short").value, FakeHeap::smi(2))), std::nullopt);
  EXPECT_EQ(load(TaggedWord{0x41414141}), std::nullopt);
}

TEST_F(Strings, LinesOfEveryKindOfEnd) {
  const auto script = fake.script("x.js", "a\nbb\r\nc\rd");
  Scripts scripts;
  const auto id = scripts.load(reader, script);
  ASSERT_TRUE(id);
  EXPECT_EQ(scripts.place(*id, 0), (LineColumn{1, 1}));
  EXPECT_EQ(scripts.place(*id, 3), (LineColumn{2, 2}));
  EXPECT_EQ(scripts.place(*id, 6), (LineColumn{3, 1}));
  EXPECT_EQ(scripts.place(*id, 8), (LineColumn{4, 1}));
  EXPECT_EQ(scripts.place(*id, 10), std::nullopt);
  EXPECT_EQ(scripts.place(*id, -1), std::nullopt);
}

TEST(Version, Parsed) {
  EXPECT_EQ(parse_version("11.3.244.8-node.38"), (Version{11, 3, 244}));
  EXPECT_EQ(parse_version("11.3"), std::nullopt);
  EXPECT_EQ(parse_version("a.b.c"), std::nullopt);
  EXPECT_LT((Version{9, 4, 146}), (Version{10, 2, 0}));
}

}  // namespace
}  // namespace nodescope::v8
