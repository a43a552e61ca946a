#include "v8/translations.h"

#include <gtest/gtest.h>

#include <string>

namespace nodescope::v8 {
namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  do {
    const auto low = static_cast<unsigned char>(value & 0x7F);
    value >>= 7;
    bytes += static_cast<char>(low | (value != 0 ? 0x80u : 0u));
  } while (value != 0);
  return bytes;
}

// The sign is the lowest bit.
std::string number(std::int64_t value) {
  return varint(value < 0 ? static_cast<std::uint64_t>(-value) << 1 | 1
                          : static_cast<std::uint64_t>(value) << 1);
}

std::string begin(std::uint64_t distance, int frames, int js_frames) {
  return "\x0e" + varint(distance) + number(frames) + number(js_frames);
}

std::string interpreted(int bytecode_offset, int literal) {
  return "\x01" + number(bytecode_offset) + number(literal) + number(9) + varint(3);
}

std::string literal(int index) {
  return "\x26" + number(index);
}

using Frames = std::vector<TranslatedFrame>;

std::optional<Frames> parse_translation(std::string_view translations, std::size_t index) {
  return v8::parse_translation(translations, index, TranslationFormat::kV8_13_6);
}

// Other numbers and fewer operands: 0x0c begins, 0x01 is a function, 0x21 a literal.
// One function with another one inlined, an argument's adaptor and a captured object in between.
TEST(Translation, FramesOfV8_9_4) {
  const auto op = [](int opcode) { return number(opcode); };
  const auto function = [&](int offset, int literal) {
    return op(18) + number(offset) + number(literal) + number(9) + number(0) + number(1);
  };
  const std::string bytes = op(3) + number(4) + number(3) + number(0) + function(40, 0) + op(22) + number(5) +
                            op(0) + number(3) + number(2) + op(7) + number(2) + op(24) + number(-300) +
                            op(19) + number(77) + number(1) + number(4) + function(-1, 3);
  const Frames frames{{40, 0, false}, {77, 1, true}, {-1, 3, false}};
  EXPECT_EQ(v8::parse_translation("x" + bytes, 1, TranslationFormat::kV8_9_0), frames);
  EXPECT_EQ(v8::parse_translation(bytes, 0, TranslationFormat::kV8_10_8), std::nullopt);
  for (std::size_t size = 0; size + 4 < bytes.size(); ++size)
    EXPECT_EQ(v8::parse_translation(bytes.substr(0, size), 0, TranslationFormat::kV8_9_0), std::nullopt);
}

// One byte for an instruction, signed operands, no references.
TEST(Translation, FramesOfV8_10_8) {
  const std::string bytes = "\x02" + number(2) + number(2) + number(0) + "\x16" + number(40) + number(0) +
                            number(9) + number(0) + number(1) + "\x1b" + number(4) + "\x17" + number(77) +
                            number(1) + number(4);
  EXPECT_EQ(v8::parse_translation(bytes, 0, TranslationFormat::kV8_10_8),
            (Frames{{40, 0, false}, {77, 1, true}}));
}

// Instructions are as in the basis; the frames are not the first instructions.
TEST(Translation, FramesOfV8_11_3) {
  const auto function = [](int offset, int literal) {
    return "\x18" + number(offset) + number(literal) + number(9);
  };
  const std::string basis =
      "\x02" + varint(0) + number(2) + number(2) + function(40, 0) + "\x1d" + number(5) + function(12, 3);
  const std::string second = "\x03" + varint(basis.size()) + number(2) + number(2) +
                             static_cast<char>(36 + 2) + "\x17" + number(20) + number(3) + number(9) +
                             number(0) + number(1);
  const auto parse = [&](std::size_t index) {
    return v8::parse_translation(basis + second, index, TranslationFormat::kV8_11_3);
  };
  EXPECT_EQ(parse(0), (Frames{{40, 0, false}, {12, 3, false}}));
  EXPECT_EQ(parse(basis.size()), (Frames{{40, 0, false}, {20, 3, false}}));
}

TEST(Translation, FramesOfV8_12_9) {
  const std::string bytes = "\x0e" + varint(0) + number(3) + number(2) + "\x01" + number(40) + number(0) +
                            number(3) + "\x0a" + number(1) + number(2) + "\x02" + number(12) + number(3) +
                            number(3);
  EXPECT_EQ(v8::parse_translation(bytes, 0, TranslationFormat::kV8_12_9),
            (Frames{{40, 0, false}, {12, 3, true}}));
}

TEST(Translation, FormatsOfTheVersions) {
  EXPECT_EQ(translation_format({9, 4, 146}), TranslationFormat::kV8_9_0);
  EXPECT_EQ(translation_format({10, 2, 154}), TranslationFormat::kV8_9_0);
  EXPECT_EQ(translation_format({11, 3, 244}), TranslationFormat::kV8_11_3);
  EXPECT_EQ(translation_format({12, 4, 254}), TranslationFormat::kV8_11_8);
  EXPECT_EQ(translation_format({12, 9, 202}), TranslationFormat::kV8_12_9);
  EXPECT_EQ(translation_format({14, 6, 202}), TranslationFormat::kV8_13_6);
  EXPECT_EQ(translation_format({12, 6, 0}), std::nullopt);
  EXPECT_EQ(translation_format({14, 7, 0}), std::nullopt);
}

TEST(Translation, FramesOfV8_12_4) {
  const std::string bytes = "\x0c" + varint(0) + number(2) + number(2) + "\x01" + number(40) + number(0) +
                            varint(3) + "\x21" + number(7) + "\x01" + number(12) + number(3) + varint(3);
  EXPECT_EQ(v8::parse_translation(bytes, 0, TranslationFormat::kV8_11_8),
            (Frames{{40, 0, false}, {12, 3, false}}));
  EXPECT_EQ(v8::parse_translation(bytes, 0, TranslationFormat::kV8_13_6), std::nullopt);
}

TEST(Translation, FramesOutermostFirst) {
  const std::string bytes =
      begin(0, 2, 2) + interpreted(40, 0) + literal(5) + literal(6) + interpreted(12, 3) + literal(7);
  EXPECT_EQ(parse_translation(bytes, 0), (Frames{{40, 0, false}, {12, 3, false}}));
}

TEST(Translation, BuiltinsThatCallBackAndFramesThatAreNotShown) {
  const std::string builtin = "\x02" + number(77) + number(1) + varint(4);
  const std::string construct_stub = "\x05" + varint(1);
  const std::string bytes =
      begin(0, 4, 3) + interpreted(40, 0) + construct_stub + builtin + interpreted(-1, 2);
  EXPECT_EQ(parse_translation(bytes, 0), (Frames{{40, 0, false}, {77, 1, true}, {-1, 2, false}}));
}

TEST(Translation, WhatIsAsInTheBasisIsTakenFromThere) {
  const std::string basis =
      begin(0, 2, 2) + interpreted(40, 0) + literal(5) + interpreted(12, 3) + literal(7);
  // The first two as there, then another place in the same inlined function, then one more as there.
  std::string second = begin(basis.size(), 2, 2);
  second += static_cast<char>(45 + 2);
  second += interpreted(20, 3);
  second += static_cast<char>(45 + 1);
  EXPECT_EQ(parse_translation(basis + second, basis.size()), (Frames{{40, 0, false}, {20, 3, false}}));
  std::string third = begin(basis.size(), 2, 2) + "\x2c" + varint(4);
  EXPECT_EQ(parse_translation(basis + third, basis.size()), (Frames{{40, 0, false}, {12, 3, false}}));
}

TEST(Translation, DamageGivesNothing) {
  const std::string good = begin(0, 2, 2) + interpreted(40, 0) + literal(5) + interpreted(12, 3);
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(parse_translation(good.substr(0, size), 0), std::nullopt) << size;
  EXPECT_EQ(parse_translation(good, 1), std::nullopt);
  EXPECT_EQ(parse_translation(good, 1000), std::nullopt);
  EXPECT_EQ(parse_translation(begin(5, 1, 1) + interpreted(1, 1), 0), std::nullopt);
  EXPECT_EQ(parse_translation(begin(0, 1, 1) + "\xff", 0), std::nullopt);
  EXPECT_EQ(parse_translation(begin(0, 1000000, 1) + interpreted(1, 1), 0), std::nullopt);
  EXPECT_EQ(parse_translation(begin(0, -1, 1) + interpreted(1, 1), 0), std::nullopt);
  EXPECT_EQ(parse_translation(std::string(100'000, '\x2c'), 0), std::nullopt);
}

TEST(Translation, EndlessRepetitionEnds) {
  const std::string basis = begin(0, 1, 1) + interpreted(40, 0);
  const std::string second = begin(basis.size(), 2, 2) + "\x2c" + varint(~std::uint64_t{0} >> 1);
  EXPECT_EQ(parse_translation(basis + second, basis.size()), std::nullopt);
}

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

// Translations, one byte of registers, two bytes of pc, one of the number.
constexpr std::uint32_t kPacking = 1 | 1 << 1 | 2 << 4 | 1 << 7;

std::string entry(std::uint16_t pc, std::uint8_t number, std::uint16_t exit) {
  return {static_cast<char>(pc & 0xFF),
          static_cast<char>(pc >> 8),
          static_cast<char>(number),
          static_cast<char>(exit & 0xFF),
          static_cast<char>(exit >> 8),
          '\0',
          '\0'};
}

TEST(SafepointTable, FindsByReturnAddressAndByExit) {
  const auto table =
      SafepointTable::parse(little_endian(8) + little_endian(3) + little_endian(kPacking) + little_endian(4),
                            SafepointFormat::kMaglevWithSlots);
  ASSERT_TRUE(table);
  const std::string entries = entry(0x30, 1, 0x201) + entry(0x48, 0, 0) + entry(0x150, 3, 0x221);
  ASSERT_EQ(table->entries_bytes(), entries.size());
  EXPECT_EQ(table->find_translation(entries, 0x30), 0u);
  EXPECT_EQ(table->find_translation(entries, 0x150), 2u);
  EXPECT_EQ(table->find_translation(entries, 0x220), 2u);
  EXPECT_EQ(table->find_translation(entries, 0x48), std::nullopt);
  EXPECT_EQ(table->find_translation(entries, 0x31), std::nullopt);
  for (std::size_t size = 0; size < entries.size(); ++size)
    table->find_translation(entries.substr(0, size), 0x150);
}

TEST(SafepointTable, ImplausibleHeaders) {
  const auto parse = [](std::uint32_t count, std::uint32_t packing) {
    return SafepointTable::parse(
        little_endian(8) + little_endian(count) + little_endian(packing) + little_endian(4),
        SafepointFormat::kMaglevWithSlots);
  };
  EXPECT_TRUE(parse(3, kPacking));
  EXPECT_FALSE(parse(0xFFFFFFFF, kPacking));
  EXPECT_FALSE(parse(3, kPacking & ~1u));
  EXPECT_FALSE(parse(3, 0xFFFFFFFF));
  EXPECT_FALSE(parse(3, 1));
  EXPECT_FALSE(SafepointTable::parse("short", SafepointFormat::kMaglevWithSlots));
}

// The first bytes of the table of a function of Node.js 22.0.0.
TEST(SafepointTable, OfV8_12_4) {
  const auto table =
      SafepointTable::parse(little_endian(3) + little_endian(0xA3) + little_endian(10) + little_endian(4),
                            SafepointFormat::kMaglev);
  ASSERT_TRUE(table);
  using namespace std::string_view_literals;
  const auto entries =
      "\x57\x00\x0f\xeb\x07\x00\x00\x88\x00\x10\xef\x07\x00\x00\x31\x01\x11\xf3\x07\x00\x00"sv;
  EXPECT_EQ(table->entries_bytes(), entries.size());
  EXPECT_EQ(table->find_translation(entries, 0x131), 0x10u);
  EXPECT_EQ(table->find_translation(entries, 0x132), std::nullopt);
}

// TurboFan's: the bitmaps of slots come behind all entries.
TEST(SafepointTable, OfTurbofan) {
  using namespace std::string_view_literals;
  constexpr std::uint32_t kBitmapBytes = 5;
  constexpr std::uint32_t kPackingOfTurbofan = 1 | 2 << 4 | 1 << 7 | kBitmapBytes << 10;
  const auto entries = "\x30\x00\x01\x01\x02\x48\x00\x00\x00\x00\x50\x01\x03\x21\x02"sv;
  const std::string packed = little_endian(3) + little_endian(kPackingOfTurbofan);
  for (const bool with_slots : {false, true}) {
    const auto table =
        SafepointTable::parse((with_slots ? little_endian(8) : "") + packed,
                              with_slots ? SafepointFormat::kPackedWithSlots : SafepointFormat::kPacked);
    ASSERT_TRUE(table);
    EXPECT_EQ(table->header_bytes, with_slots ? 12u : 8u);
    ASSERT_EQ(table->entries_bytes(), entries.size());
    EXPECT_EQ(table->find_translation(entries, 0x30), 0u);
    EXPECT_EQ(table->find_translation(entries, 0x200), 0u);
    EXPECT_EQ(table->find_translation(entries, 0x220), 2u);
    EXPECT_EQ(table->find_translation(entries, 0x48), std::nullopt);
    EXPECT_EQ(table->find_translation(entries, 0x49), std::nullopt);
  }
}

TEST(SafepointTable, OfV8_9_4) {
  constexpr std::uint32_t kNo = ~std::uint32_t{0};
  const auto table = SafepointTable::parse(little_endian(2) + little_endian(7), SafepointFormat::kWords);
  ASSERT_TRUE(table);
  const std::string entries = little_endian(0x30) + little_endian(0) + little_endian(0x200) +
                              little_endian(0x48) + little_endian(kNo) + little_endian(kNo);
  ASSERT_EQ(table->entries_bytes(), entries.size());
  EXPECT_EQ(table->find_translation(entries, 0x30), 0u);
  EXPECT_EQ(table->find_translation(entries, 0x200), 0u);
  EXPECT_EQ(table->find_translation(entries, 0x48), std::nullopt);
  EXPECT_EQ(table->find_translation(entries, kNo), std::nullopt);
  EXPECT_FALSE(SafepointTable::parse(little_endian(1 << 20) + little_endian(7), SafepointFormat::kWords));
}

}  // namespace
}  // namespace nodescope::v8
