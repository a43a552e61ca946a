#include <gtest/gtest.h>

#include <string>

#include "base/byte_reader.h"
#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/string_table.h"

namespace nodescope {
namespace {

TEST(StringTable, GivesEqualTextOneId) {
  StringTable table;
  const StringId fib = table.intern("fib");
  EXPECT_EQ(table.intern(std::string("fib")), fib);
  EXPECT_NE(table.intern("fib2"), fib);
  EXPECT_EQ(table[fib], "fib");
  EXPECT_EQ(table.intern(""), StringId{});
}

TEST(StringTable, KeepsViewsAcrossGrowthAndMove) {
  StringTable table;
  const std::string_view first = table[table.intern("first")];
  for (int i = 0; i < 10'000; ++i) table.intern("name " + std::to_string(i));
  const std::string huge(1'000'000, 'x');
  const StringId id = table.intern(huge);
  const StringTable moved = std::move(table);
  EXPECT_EQ(first, "first");
  EXPECT_EQ(moved[id], huge);
}

TEST(Diagnostics, CountsAndKeepsTheFirstExample) {
  Diagnostics diagnostics;
  diagnostics.warn("line not understood", "line 3");
  diagnostics.warn("line not understood", "line 9");
  Diagnostics other;
  other.add(Severity::kError, "line not understood", "line 1", 5);
  diagnostics.merge(other);
  ASSERT_EQ(diagnostics.entries().size(), 1u);
  EXPECT_EQ(diagnostics.entries()[0], (Diagnostic{"line not understood", Severity::kError, 7, "line 3"}));
  EXPECT_TRUE(diagnostics.has(Severity::kError));
  EXPECT_EQ(diagnostics.count("something else"), 0u);
}

TEST(ByteReader, FailsForGoodAfterTheEnd) {
  const std::string bytes("\x01\x00\x00\x00\x02", 5);
  ByteReader reader(as_byte_span(bytes));
  EXPECT_EQ(reader.read<std::uint32_t>(), 1u);
  EXPECT_FALSE(reader.read<std::uint32_t>());
  EXPECT_FALSE(reader.read<std::uint8_t>());
  EXPECT_TRUE(reader.failed());
}

TEST(ByteReader, ReadsVarintsUpTo64Bits) {
  const std::string largest("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10);
  EXPECT_EQ(ByteReader(as_byte_span(largest)).read_varint(), ~std::uint64_t{0});
  const std::string too_large("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", 10);
  EXPECT_FALSE(ByteReader(as_byte_span(too_large)).read_varint());
  const std::string endless(20, '\xFF');
  EXPECT_FALSE(ByteReader(as_byte_span(endless)).read_varint());
}

TEST(ByteReader, ReadsTextUpToItsNul) {
  const std::string bytes("comm\0rest", 9);
  ByteReader reader(as_byte_span(bytes));
  EXPECT_EQ(reader.read_c_string(), "comm");
  EXPECT_FALSE(reader.read_c_string());
}

// Gives one byte at a time and no mapping, as a slow pipe does.
class SlowSource final : public ByteSource {
 public:
  explicit SlowSource(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    if (position_ == text_.size() || into.empty()) return 0;
    into[0] = static_cast<std::byte>(text_[position_++]);
    return 1;
  }
  std::string_view name() const override { return "slow"; }

 private:
  std::string text_;
  std::size_t position_ = 0;
};

TEST(ReadWhole, StopsAtTheLimit) {
  SlowSource source("12345");
  std::string storage;
  EXPECT_EQ(read_whole(source, storage, 4).error().code, ErrorCode::kLimit);
  SlowSource again("12345");
  EXPECT_EQ(as_text(*read_whole(again, storage, 5)), "12345");
}

}  // namespace
}  // namespace nodescope
