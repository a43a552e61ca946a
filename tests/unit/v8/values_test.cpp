#include "v8/values.h"

#include <gtest/gtest.h>

#include <bit>

#include "support/fake_v8.h"
#include "v8/arguments.h"

namespace nodescope::v8 {
namespace {

using testing::FakeHeap;
using testing::layout_of_node_20;

constexpr int kSymbolType = 128;
constexpr int kBigIntType = 129;
constexpr int kNumberType = 130;
constexpr int kOddballType = 131;
constexpr int kConsType = 9;  // one byte
constexpr int kArrayType = 2056;
constexpr int kTypedArrayType = 2060;

class ValuesTest : public ::testing::Test {
 protected:
  std::string text(TaggedWord word) { return describe_value(heap, word); }
  std::string text(std::uint64_t word) { return describe_value(heap, {word}); }

  TaggedWord number(double value) { return fake.object(kNumberType, {std::bit_cast<std::uint64_t>(value)}); }
  TaggedWord oddball(std::int32_t kind) {
    return fake.object(kOddballType, {0, 0, 0, 0, FakeHeap::smi(kind)});
  }

  TaggedWord js_array(int elements_kind, TaggedWord elements, std::uint64_t length) {
    const auto array = fake.object(kArrayType, {0, elements.value, length});
    const Address map{*fake.memory.load<std::uint64_t>(array.address()) - 1};
    fake.memory.put(map + 15, static_cast<std::uint8_t>(elements_kind << 2));
    return array;
  }

  // With in-object properties of these names.
  TaggedWord js_object(const std::vector<std::pair<std::string, std::uint64_t>>& properties) {
    std::vector<std::uint64_t> descriptors{0, 0};
    std::vector<std::uint64_t> fields{0, 0};
    for (std::size_t i = 0; i < properties.size(); ++i) {
      descriptors.push_back(fake.string(properties[i].first).value);
      descriptors.push_back(FakeHeap::smi(static_cast<std::int32_t>(i << 19)));
      descriptors.push_back(0);
      fields.push_back(properties[i].second);
    }
    const auto array = fake.object(236, descriptors);
    const auto object = fake.object(FakeHeap::kObjectType, fields);
    const Address map{*fake.memory.load<std::uint64_t>(object.address()) - 1};
    fake.memory.put(map + 8, static_cast<std::uint8_t>(3 + properties.size()));
    fake.memory.put(map + 9, std::uint8_t{3});
    fake.memory.put(map + 16, static_cast<std::uint32_t>(properties.size() << 10));
    fake.memory.put(map + 40, array.value);
    return object;
  }

  FakeHeap fake;
  Layout layout = layout_of_node_20();
  Heap heap{fake.memory, layout};
};

TEST_F(ValuesTest, Primitives) {
  EXPECT_EQ(text(FakeHeap::smi(-7)), "-7");
  EXPECT_EQ(text(number(3.25)), "3.25");
  EXPECT_EQ(text(number(-1.0 / 0.0)), "-Infinity");
  EXPECT_EQ(text(oddball(0)), "false");
  EXPECT_EQ(text(oddball(1)), "true");
  EXPECT_EQ(text(oddball(3)), "null");
  EXPECT_EQ(text(oddball(5)), "undefined");
  EXPECT_EQ(text(oddball(77)), "[hole]");
  EXPECT_EQ(text(fake.string("say \"hi\"\n")), R"("say \"hi\"\n")");
  EXPECT_EQ(text(fake.object(kSymbolType, {0, fake.string("it").value})), "Symbol(it)");
  EXPECT_EQ(text(fake.object(kBigIntType, {(1u << 1) | 1u, 12})), "-12n");
  EXPECT_EQ(text(fake.object(kBigIntType, {0})), "0n");
  EXPECT_EQ(text(fake.object(kBigIntType, {~std::uint64_t{0}})), "[BigInt of 68719476672 bits]");
}

TEST_F(ValuesTest, LongStringsAreCut) {
  const std::string shown = text(fake.string(std::string(1000, 'x')));
  EXPECT_EQ(shown, "\"" + std::string(60, 'x') + "…\" (1000 characters)");
}

TEST_F(ValuesTest, AStringThatClaimsMoreThanThereIs) {
  const auto last = fake.object(FakeHeap::kStringType, {0});
  fake.memory.put(last.address() + 12, std::uint32_t{0x7FFFFFFF});
  EXPECT_EQ(text(last), "[string of 2147483647 characters]");
}

TEST_F(ValuesTest, ARopeThatLeadsInCircles) {
  const auto rope = fake.object(kConsType, {0, 0, 0});
  fake.memory.put(rope.address() + 12, std::uint32_t{100});
  fake.memory.put(rope.address() + 16, rope.value);
  fake.memory.put(rope.address() + 24, rope.value);
  EXPECT_EQ(text(rope), "[string of 100 characters]");
}

TEST_F(ValuesTest, Arrays) {
  EXPECT_EQ(text(js_array(2, fake.array({FakeHeap::smi(1), fake.string("two").value}), FakeHeap::smi(2))),
            "[1, \"two\"]");
  EXPECT_EQ(text(js_array(5, fake.array({std::bit_cast<std::uint64_t>(1.5), 0xFFF7FFFFFFF7FFFF}),
                          FakeHeap::smi(2))),
            "[1.5, [hole]]");
  EXPECT_EQ(text(js_array(0, fake.array(std::vector<std::uint64_t>(100)), FakeHeap::smi(100))),
            "[0, 0, 0, 0, 0, … 95 more]");
  EXPECT_EQ(text(js_array(12, fake.array({}), FakeHeap::smi(7))), "Array(7)");
  EXPECT_EQ(text(js_array(2, fake.array({}), FakeHeap::smi(-1))), "Array");
}

TEST_F(ValuesTest, ObjectsShowTheirPropertiesButNotThoseBelow) {
  const auto inner = js_object({{"x", FakeHeap::smi(1)}});
  const auto outer = js_object({{"a", FakeHeap::smi(5)}, {"b", inner.value}});
  EXPECT_EQ(text(outer), "{a: 5, b: {…}}");
  EXPECT_EQ(text(js_object({})), "{}");
  const auto many = js_object({{"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}, {"e", 0}, {"f", 0}});
  EXPECT_EQ(text(many), "{a: 0, b: 0, c: 0, d: 0, e: 0, …}");
}

TEST_F(ValuesTest, AnObjectThatHoldsItself) {
  const auto object = js_object({{"self", 0}});
  fake.memory.put(object.address() + 24, object.value);
  EXPECT_EQ(text(object), "{self: {…}}");
}

TEST_F(ValuesTest, FunctionsAndOthers) {
  EXPECT_EQ(text(fake.function(fake.shared("named", {}, {}))), "[Function: named]");
  EXPECT_EQ(text(fake.function(fake.shared("", {}, {}))), "[Function (anonymous)]");
  EXPECT_EQ(text(fake.object(kTypedArrayType, {0, 0, 0, 0, 16})), "Object(16 bytes)");
  EXPECT_EQ(text(fake.array({})), "[internal]");
}

TEST_F(ValuesTest, WhatIsNoValue) {
  EXPECT_EQ(text(1), "?");
  EXPECT_EQ(text(3), "?");
  EXPECT_EQ(text(~std::uint64_t{0} - 2), "?");
}

TEST_F(ValuesTest, ArgumentsOfAFrame) {
  const Address frame = fake.memory.allocate(128) + 64;
  fake.memory.put(frame - 24, std::uint64_t{3});
  fake.memory.put(frame + 16, oddball(5).value);
  fake.memory.put(frame + 24, FakeHeap::smi(1));
  fake.memory.put(frame + 32, FakeHeap::smi(2));
  const auto arguments = read_arguments(heap, frame);
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->receiver, "undefined");
  EXPECT_EQ(arguments->values, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(arguments->count, 2u);
}

TEST_F(ValuesTest, AnImplausibleCountGivesNone) {
  const Address frame = fake.memory.allocate(128) + 64;
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{100'000}, ~std::uint64_t{0}}) {
    fake.memory.put(frame - 24, count);
    EXPECT_FALSE(read_arguments(heap, frame));
  }
  fake.memory.put(frame - 24, std::uint64_t{60'000});
  EXPECT_TRUE(!read_arguments(heap, frame) ||
              read_arguments(heap, frame)->values.size() == kMaxShownArguments);
  EXPECT_FALSE(read_arguments(heap, Address{8}));
}

}  // namespace
}  // namespace nodescope::v8
