#include "v8/value_decoder.h"

#include <gmock/gmock.h>

#include <random>

#include "support/fake_values.h"

namespace nodescope::v8 {
namespace {

using testing::FakeValues;
using ::testing::SizeIs;

class ValueDecoderTest : public ::testing::Test {
 protected:
  DecodedValue decode(const std::string& name, const DecodeLimits& limits = {}) {
    Heap heap(values_.heap.memory, values_.layout);
    Scripts scripts;
    return ValueDecoder(heap, values_.facts, scripts).decode(values_.words.at(name), limits);
  }

  FakeValues values_;
};

TEST_F(ValueDecoderTest, Strings) {
  EXPECT_EQ(decode("text").type, ValueType::kString);
  EXPECT_EQ(decode("text").text, "text");
  const DecodedValue cut = decode("text", {.string_units = 2});
  EXPECT_EQ(cut.text, "te");
  EXPECT_EQ(cut.text_units, 4u);
  EXPECT_TRUE(cut.is_text_cut);
  EXPECT_FALSE(decode("text").is_text_cut);
}

TEST_F(ValueDecoderTest, BigIntsOfAnyLength) {
  EXPECT_EQ(decode("bigint").type, ValueType::kBigInt);
  EXPECT_EQ(decode("bigint").text, "-18446744073709551621");
}

TEST_F(ValueDecoderTest, ArraysHaveHolesWhereNothingIs) {
  const DecodedValue array = decode("array");
  EXPECT_EQ(array.type, ValueType::kArray);
  ASSERT_THAT(array.elements, SizeIs(5));
  EXPECT_EQ(array.elements[0].number, 7);
  EXPECT_EQ(array.elements[1].text, "text");
  for (const std::size_t hole : {2, 3, 4}) EXPECT_EQ(array.elements[hole].type, ValueType::kHole);
  const DecodedValue cut = decode("array", {.members = 2});
  EXPECT_THAT(cut.elements, SizeIs(2));
  EXPECT_EQ(cut.more_elements, 3u);
  EXPECT_FALSE(decode("array", {.depth = 0}).has_members);
}

TEST_F(ValueDecoderTest, WhatALimitLeavesOutIsCountedAndNotUnreadable) {
  for (std::size_t values = 1; values < 8; ++values) {
    const DecodedValue array = decode("array", {.depth = 3, .values = values});
    EXPECT_EQ(array.elements.size() + array.more_elements, 5u) << values;
    for (const DecodedValue& element : array.elements)
      EXPECT_NE(element.type, ValueType::kUnreadable) << values;
  }
}

TEST_F(ValueDecoderTest, MapsLeaveOutWhatWasDeleted) {
  const DecodedValue map = decode("map");
  EXPECT_EQ(map.type, ValueType::kMap);
  ASSERT_THAT(map.entries, SizeIs(1));
  EXPECT_EQ(map.entries[0].key.text, "text");
  EXPECT_EQ(map.entries[0].value.number, 1);
}

TEST_F(ValueDecoderTest, PromisesDatesAndBuffers) {
  const DecodedValue promise = decode("promise");
  EXPECT_EQ(promise.state, "fulfilled");
  ASSERT_NE(promise.result, nullptr);
  EXPECT_EQ(promise.result->text, "text");
  EXPECT_EQ(decode("date").text, "1970-01-02T00:00:00.000Z");
  const DecodedValue buffer = decode("buffer");
  EXPECT_EQ(buffer.byte_count, 4u);
  EXPECT_EQ(buffer.bytes, "\1\2\3\4");
  EXPECT_EQ(decode("buffer", {.bytes = 2}).bytes, "\1\2");
}

TEST_F(ValueDecoderTest, ACircleEndsAtTheDepth) {
  const auto array = values_.array({0}, 1);
  std::uint64_t store = 0;
  std::memcpy(&store,
              values_.heap.memory.bytes.data() + (array.address().value + 16 - testing::FakeMemory::kBegin),
              sizeof store);
  values_.heap.memory.put(Address{store - 1 + 16}, array.value);
  values_.words["circle"] = array;
  const DecodedValue outer = decode("circle", {.depth = 3});
  const DecodedValue* inner = &outer;
  int depth = 0;
  while (!inner->elements.empty()) {
    inner = inner->elements.data();
    ++depth;
  }
  EXPECT_EQ(depth, 3);
  EXPECT_EQ(inner->address, outer.address);
}

TEST_F(ValueDecoderTest, WhatIsNoObjectIsUnreadable) {
  values_.words["nothing"] = {0x10};
  values_.words["wild"] = {0xDEAD'BEEF'0001};
  EXPECT_EQ(decode("nothing").type, ValueType::kUnreadable);
  EXPECT_EQ(decode("wild").type, ValueType::kUnreadable);
}

TEST_F(ValueDecoderTest, DamagedMemoryIsSafe) {
  std::mt19937_64 random(18);
  const FakeValues good;
  for (int round = 0; round < 3000; ++round) {
    values_ = good;
    auto& bytes = values_.heap.memory.bytes;
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t word =
          random() % 3 == 0 ? random() : random() % 4096 + testing::FakeMemory::kBegin + 1;
      std::memcpy(bytes.data() + 8 * (random() % (bytes.size() / 8)), &word, sizeof word);
    }
    for (const auto& [name, word] : good.words)
      EXPECT_LE(decode(name, {.depth = 2, .members = 16}).elements.size(), 16u) << name;
  }
}

}  // namespace
}  // namespace nodescope::v8
