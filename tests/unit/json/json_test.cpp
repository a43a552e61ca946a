#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/text.h"
#include "json/reader.h"
#include "json/sniff.h"
#include "json/writer.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using json::Number;
using json::Reader;
using json::Type;

// Gives at most `step` bytes at a time.
class SlowSource final : public ByteSource {
 public:
  SlowSource(std::string_view text, std::size_t step) : text_(text), step_(step) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    const std::string_view part = text_.substr(0, std::min(step_, into.size()));
    std::ranges::copy(as_byte_span(part), into.begin());
    text_.remove_prefix(part.size());
    return part.size();
  }
  std::string_view name() const override { return "slow"; }

 private:
  std::string_view text_;
  std::size_t step_;
};

class FailingSource final : public ByteSource {
 public:
  Result<std::size_t> read(std::span<std::byte>) override { return fail(ErrorCode::kSystem, "disk on fire"); }
  std::string_view name() const override { return "failing"; }
};

// The whole value as text in one form, so that two readers can be compared.
void describe(Reader& reader, std::string& text) {
  switch (reader.peek()) {
    case Type::kObject: {
      text += '{';
      auto members = reader.object();
      while (const auto key = members.next()) {
        text += fmt::format("<{}>", *key);
        describe(reader, text);
      }
      text += '}';
      return;
    }
    case Type::kArray: {
      text += '[';
      auto elements = reader.array();
      while (elements.next()) describe(reader, text);
      text += ']';
      return;
    }
    case Type::kString:
      text += fmt::format("\"{}\"", reader.string().value_or("?"));
      return;
    case Type::kNumber: {
      const auto number = reader.number();
      text += number ? fmt::format("{}e0 ", number->rounded()) : "? ";
      return;
    }
    case Type::kBool:
      text += reader.boolean().value_or(false) ? "T" : "F";
      return;
    case Type::kNull:
      text += 'N';
      reader.skip();
      return;
    case Type::kNone:
      text += '!';
      reader.skip();
      return;
  }
}

void describe(const boost::json::value& value, std::string& text) {
  switch (value.kind()) {
    case boost::json::kind::object:
      text += '{';
      for (const auto& [key, member] : value.get_object()) {
        text += fmt::format("<{}>", std::string_view(key.data(), key.size()));
        describe(member, text);
      }
      text += '}';
      return;
    case boost::json::kind::array:
      text += '[';
      for (const auto& element : value.get_array()) describe(element, text);
      text += ']';
      return;
    case boost::json::kind::string:
      text += fmt::format("\"{}\"", std::string_view(value.get_string().data(), value.get_string().size()));
      return;
    case boost::json::kind::int64:
      text += fmt::format("{}e0 ", value.get_int64());
      return;
    case boost::json::kind::uint64:
      text += fmt::format(
          "{}e0 ", std::min<std::uint64_t>(value.get_uint64(), std::numeric_limits<std::int64_t>::max()));
      return;
    case boost::json::kind::double_:
      text += fmt::format("{}e0 ", static_cast<std::int64_t>(std::round(value.get_double())));
      return;
    case boost::json::kind::bool_:
      text += value.get_bool() ? "T" : "F";
      return;
    case boost::json::kind::null:
      text += 'N';
      return;
  }
}

std::string read_all(std::string_view text) {
  MemorySource source(text, "test");
  Reader reader(source);
  std::string description;
  describe(reader, description);
  return description;
}

// What is kept of a text that stops being JSON, and why it stopped.
std::string error_of(std::string_view text) {
  MemorySource source(text, "test");
  Reader reader(source);
  reader.skip();
  Diagnostics diagnostics;
  const auto finished = reader.finish(diagnostics, false);
  return finished ? "" : finished.error().message;
}

std::string error_when_read(std::string_view text) {
  MemorySource source(text, "test");
  Reader reader(source);
  std::string description;
  describe(reader, description);
  return reader.error() ? reader.error()->message : "";
}

Number number_of(std::string_view text) {
  MemorySource source(text, "test");
  Reader reader(source);
  return reader.number().value();
}

std::string text_of(std::string_view text) {
  MemorySource source(text, "test");
  Reader reader(source);
  return std::string(reader.string().value());
}

TEST(JsonReader, ReadsEveryKindOfValue) {
  EXPECT_EQ(
      read_all(R"( { "a" : [ 1 , -2, 3.5e1 ] , "b":{}, "c":[], "d":"x", "e":true,"f":false,"g":null } )"),
      R"({<a>[1e0 -2e0 35e0 ]<b>{}<c>[]<d>"x"<e>T<f>F<g>N})");
}

TEST(JsonReader, AByteOrderMarkIsNoPartOfTheText) {
  EXPECT_EQ(read_all("\xEF\xBB\xBF[1]"), "[1e0 ]");
}

TEST(JsonReader, EscapesBecomeCharacters) {
  EXPECT_EQ(text_of(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(text_of(R"("\u0041\u00e9\u65e5\ud83d\ude00")"), "Aé日😀");
  EXPECT_EQ(text_of(R"("é日😀")"), "é日😀");
}

// JSON.stringify writes half of a pair as it is; the text must still become valid UTF-8.
TEST(JsonReader, HalfOfASurrogatePairIsReplaced) {
  EXPECT_EQ(text_of(R"("a\ud800b")"), "a\uFFFDb");
  EXPECT_EQ(text_of(R"("\ude00")"), "\uFFFD");
  EXPECT_EQ(text_of(R"("\ud800\ud83d\ude00\ud800")"), "\uFFFD😀\uFFFD");
  EXPECT_EQ(text_of(R"("\ud800\n")"), "\uFFFD\n");
}

TEST(JsonReader, BytesThatAreNotUtf8AreReplacedAndCounted) {
  MemorySource source("[\"a\xFF\", \"\\u0041\xC3\"]", "test");
  Reader reader(source);
  auto elements = reader.array();
  ASSERT_TRUE(elements.next());
  EXPECT_EQ(reader.string(), "a\uFFFD");
  ASSERT_TRUE(elements.next());
  EXPECT_EQ(reader.string(), "A\uFFFD");
  EXPECT_FALSE(elements.next());
  Diagnostics diagnostics;
  EXPECT_TRUE(reader.finish(diagnostics, true).has_value());
  EXPECT_EQ(diagnostics.count("text that is not UTF-8: bad bytes are shown as U+FFFD"), 2u);
}

TEST(JsonReader, NumbersAreExact) {
  EXPECT_EQ(number_of("0"), (Number{0, 0, false}));
  EXPECT_EQ(number_of("-12"), (Number{12, 0, true}));
  EXPECT_EQ(number_of("1700000000000000001").rounded(), 1700000000000000001);
  EXPECT_EQ(number_of("9223372036854775807").rounded(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number_of("-9223372036854775808").rounded(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(number_of("18446744073709551615").as_count(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(number_of("0.001").scaled(9), 1'000'000);
  EXPECT_EQ(number_of("1234567.8915").scaled(3), 1'234'567'892);
  EXPECT_EQ(number_of("1e3").rounded(), 1000);
  EXPECT_EQ(number_of("1.5E+2").rounded(), 150);
  EXPECT_EQ(number_of("15e-1").rounded(), 2);
  EXPECT_EQ(number_of("-1.5").rounded(), -2);
  EXPECT_EQ(number_of("1402.509").scaled(9), 1'402'509'000'000);
}

TEST(JsonReader, NumbersBeyondTheRangeAreItsEnds) {
  EXPECT_EQ(number_of("1e400").rounded(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number_of("-1e99999999999").rounded(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(number_of("99999999999999999999999").as_count(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(number_of("1e-99999999999").rounded(), 0);
  EXPECT_EQ(number_of("0e99999").rounded(), 0);
  EXPECT_EQ(number_of("5e18").scaled(3), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number_of("-3").as_count(), 0u);
  EXPECT_EQ(number_of("0." + std::string(100'000, '0') + "1").scaled(9), 0);
  EXPECT_EQ(number_of("1" + std::string(1'000'000, '0')).rounded(), std::numeric_limits<std::int64_t>::max());
}

TEST(JsonReader, TakesWhatOthersWriteBesidesJson) {
  EXPECT_EQ(read_all("[1,2,]"), "[1e0 2e0 ]");
  EXPECT_EQ(read_all("{\"a\":1,}"), "{<a>1e0 }");
  EXPECT_EQ(read_all("[NaN,Infinity,-Infinity,1]"), "[NN? 1e0 ]");
  EXPECT_EQ(text_of("\"a\tb\""), "a\tb");
  EXPECT_EQ(number_of("\"-42\""), (Number{42, 0, true}));
}

TEST(JsonReader, ArraysOfNumbers) {
  const auto numbers = [](std::string_view text) {
    MemorySource source(text, "test");
    Reader reader(source);
    std::vector<std::int64_t> all;
    reader.numbers([&](const auto& number) { all.push_back(number ? number->rounded() : -1); });
    EXPECT_FALSE(reader.failed());
    return all;
  };
  EXPECT_EQ(numbers("[]"), (std::vector<std::int64_t>{}));
  EXPECT_EQ(numbers("[1,22,333]"), (std::vector<std::int64_t>{1, 22, 333}));
  EXPECT_EQ(numbers("[1, 22 ,-3,4.6,null,\"x\",[5],{\"a\":6},7,]"),
            (std::vector<std::int64_t>{1, 22, -3, 5, -1, -1, -1, -1, 7}));
  EXPECT_EQ(numbers("[18446744073709551616,1]").front(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(numbers("{\"a\":1}"), (std::vector<std::int64_t>{}));
}

TEST(JsonReader, AValueThatNobodyReadsIsSkipped) {
  MemorySource source(R"({"a":{"b":[1,{"c":"]}\""}]},"d":[[],[2]],"e":3})", "test");
  Reader reader(source);
  auto members = reader.object();
  std::string keys;
  std::int64_t last = 0;
  while (const auto key = members.next()) {
    keys += *key;
    if (*key == "e") last = reader.number()->rounded();
  }
  EXPECT_EQ(keys, "ade");
  EXPECT_EQ(last, 3);
  EXPECT_FALSE(reader.failed());
}

TEST(JsonReader, AValueOfAnotherTypeIsSkippedAndCounted) {
  MemorySource source(R"({"a":"x","b":[1],"c":5,"d":null})", "test");
  Reader reader(source);
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "a") {
      EXPECT_EQ(reader.number(), std::nullopt);
    } else if (*key == "b") {
      EXPECT_EQ(reader.string(), std::nullopt);
    } else if (*key == "c") {
      auto inner = reader.object();
      EXPECT_EQ(inner.next(), std::nullopt);
    } else {
      EXPECT_EQ(reader.boolean(), std::nullopt);
    }
  }
  Diagnostics diagnostics;
  EXPECT_TRUE(reader.finish(diagnostics, false).has_value());
  EXPECT_EQ(diagnostics.count("JSON values of an unexpected type are not read"), 3u);
}

TEST(JsonReader, SaysWhereAndWhatWasExpected) {
  EXPECT_EQ(error_when_read("[1 2]"), "test: byte 3 of the JSON text is not ',' or ']'");
  EXPECT_EQ(error_when_read("{\"a\" 2}"), "test: byte 5 of the JSON text is not ':'");
  EXPECT_EQ(error_when_read("{\"a\":2"), "test: the JSON text ends at byte 6 where ',' or '}' should follow");
  EXPECT_EQ(error_when_read("{a:2}"), "test: byte 1 of the JSON text is not a key");
  EXPECT_EQ(error_when_read("\"abc"), "test: the JSON text ends at byte 4 where '\"' should follow");
  EXPECT_EQ(error_when_read(R"("\x")"), "test: byte 2 of the JSON text is not an escape sequence");
  EXPECT_EQ(error_when_read(R"("\u12g4")"), "test: byte 5 of the JSON text is not four hexadecimal digits");
  EXPECT_EQ(error_when_read("-x"), "test: byte 1 of the JSON text is not a digit");
  EXPECT_EQ(error_when_read("1ex"), "test: byte 2 of the JSON text is not a digit");
  EXPECT_EQ(error_when_read(""), "test: the JSON text ends at byte 0 where a value should follow");
  EXPECT_EQ(error_of("[[1,2}]"), "test: byte 5 of the JSON text is not ']'");
  EXPECT_EQ(error_of("[{\"a\":\"x"), "test: the JSON text ends at byte 8 where '\"' should follow");
  EXPECT_EQ(error_of("[1,[2]"), "test: the JSON text ends at byte 6 where a closing bracket should follow");
  EXPECT_EQ(error_of(std::string_view("[\0]", 3)), "test: byte 1 of the JSON text is not a value");
  EXPECT_EQ(error_of("@"), "test: byte 0 of the JSON text is not a value");
}

TEST(JsonReader, TextBehindTheEndIsReported) {
  MemorySource source("[1] [2]", "test");
  Reader reader(source);
  reader.skip();
  Diagnostics diagnostics;
  EXPECT_TRUE(reader.finish(diagnostics, true).has_value());
  EXPECT_EQ(diagnostics.count("text behind the end of the JSON text is not read"), 1u);
}

TEST(JsonReader, PassesErrorsOfTheSource) {
  FailingSource failing;
  Reader reader(failing);
  Diagnostics diagnostics;
  EXPECT_EQ(reader.peek(), Type::kNone);
  EXPECT_EQ(reader.finish(diagnostics, true).error().message, "disk on fire");
}

TEST(JsonReader, NestingCostsNoStack) {
  constexpr std::size_t kDepth = 2'000'000;
  std::string text;
  for (std::size_t i = 0; i < kDepth; ++i) text += "{\"a\":[";
  for (std::size_t i = 0; i < kDepth; ++i) text += "]}";
  EXPECT_EQ(error_of(text), "");
  EXPECT_NE(error_of(text.substr(0, text.size() - 1)), "");
}

TEST(JsonReader, TextAcrossBlocks) {
  // Every token once at every place relative to the end of a block of 256 KB.
  constexpr std::size_t kBlock = 256 * 1024;
  const std::string tail = R"("k\u00e9y": [12345, -1.25e2, "t\ud83d\ude00xt", true, null]})";
  for (std::size_t shift = 0; shift <= tail.size() + 1; ++shift) {
    const std::string text = "{" + std::string(kBlock - 1 - shift, ' ') + tail;
    EXPECT_EQ(read_all(text), "{<kéy>[12345e0 -125e0 \"t😀xt\"TN]}") << shift;
  }
  const std::string letters(3 * kBlock, 'x');
  EXPECT_EQ(text_of("\"" + letters + "\\n" + letters + "\""), letters + "\n" + letters);
}

TEST(JsonReader, AKeySurvivesALookAtItsValue) {
  constexpr std::size_t kBlock = 256 * 1024;
  for (std::size_t shift = 0; shift < 20; ++shift) {
    const std::string text = "{" + std::string(kBlock - 1 - shift, ' ') + "\"first\" \n : \n [1], \"x\":2}";
    MemorySource source(text, "test");
    Reader reader(source);
    auto members = reader.object();
    const auto key = members.next();
    ASSERT_TRUE(key.has_value());
    EXPECT_EQ(reader.peek(), Type::kArray);
    EXPECT_EQ(*key, "first") << shift;
    EXPECT_EQ(members.next(), "x");
    EXPECT_EQ(members.next(), std::nullopt);
    EXPECT_FALSE(reader.failed());
  }
}

TEST(JsonReader, TextOver16MegabytesIsCut) {
  const std::string text = "[\"" + std::string(17 << 20, 'x') + "\",1]";
  MemorySource source(text, "test");
  Reader reader(source);
  auto elements = reader.array();
  ASSERT_TRUE(elements.next());
  EXPECT_EQ(reader.string()->size(), std::size_t{16} << 20);
  ASSERT_TRUE(elements.next());
  EXPECT_EQ(reader.number()->rounded(), 1);
  EXPECT_FALSE(elements.next());
  Diagnostics diagnostics;
  EXPECT_TRUE(reader.finish(diagnostics, true).has_value());
  EXPECT_EQ(diagnostics.count("text over 16 MB is cut"), 1u);
}

TEST(JsonReader, AgreesWithBoostOnRealFiles) {
  for (const char* path :
       {"cpuprofile/node16/input", "cpuprofile/node26/input", "cpuprofile/out-of-order/input",
        "heapprofile/node20/input", "trace-events/node20/input", "speedscope/sampled/input"}) {
    const std::string text = testing::read_test_file(std::string("tests/golden/") + path);
    boost::json::parse_options options;
    options.max_depth = 1000;
    std::string expected;
    describe(boost::json::parse(text, {}, options), expected);
    EXPECT_EQ(read_all(text), expected) << path;
    SlowSource source(text, 7);
    Reader reader(source);
    std::string slowly;
    describe(reader, slowly);
    EXPECT_EQ(slowly, expected) << path;
  }
}

// Damage at random places: whatever Boost accepts, we accept, with the same meaning.
TEST(JsonReader, AgreesWithBoostOnDamagedText) {
  const std::string good = R"({"a":[1,-2.5,3e2,"x\u00e9\n",{"b":null}],"c":"d","e":[true,false,[]],"f":{}})";
  std::mt19937 random(1);
  constexpr std::string_view kBytes = "{}[],:\"\\0123456789eE+-.tfn u\x80";
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (std::uint32_t changes = 1 + random() % 2; changes > 0; --changes) {
      text[random() % text.size()] = kBytes[random() % kBytes.size()];
    }
    boost::system::error_code error;
    const auto value = boost::json::parse(text, error);
    if (error) {
      read_all(text);
      continue;
    }
    // A key that comes twice has one value there and two here.
    std::string expected;
    describe(value, expected);
    const std::string description = read_all(text);
    if (std::ranges::count(description, '<') == std::ranges::count(expected, '<')) {
      EXPECT_EQ(description, expected) << text;
    }
    ++accepted;
  }
  EXPECT_GT(accepted, 1000);
}

// ---------------------------------------------------------------- writing

std::string written(void (*write)(json::Writer&)) {
  StringSink sink;
  json::Writer writer(sink);
  write(writer);
  EXPECT_TRUE(writer.finish().has_value());
  return sink.text();
}

TEST(JsonWriter, PutsCommasAndColons) {
  EXPECT_EQ(
      written([](json::Writer& writer) {
        writer.begin_object().key("a").begin_array().integer(-1).count(2).boolean(true).null().end_array();
        writer.line().key("b").begin_object().end_object().untrusted_key("c\"").string("d").end_object();
      }),
      "{\"a\":[-1,2,true,null],\n\"b\":{},\"c\\\"\":\"d\"}\n");
}

// A terminal that shows the JSON would act on them.
TEST(JsonWriter, EscapesControlCharactersAndMarksOfDirection) {
  EXPECT_EQ(written([](json::Writer& writer) {
              writer.string("a\x1b\xC2\x9B\xE2\x80\xAE\xE2\x81\xA6\xD8\x9C\xE2\x80\xA8\xC2\xA0é€");
            }),
            R"("a\u001b\u009b\u202e\u2066\u061c\u2028)"
            "\xC2\xA0é€\"\n");
  EXPECT_EQ(written([](json::Writer& writer) { writer.string("\xE2\x80\xE2"); }),
            "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"\n");
}

TEST(JsonWriter, Decimals) {
  EXPECT_EQ(written([](json::Writer& writer) {
              writer.begin_array().decimal(1500, 3).decimal(2000, 3).decimal(-7, 3).decimal(0, 6).decimal(
                  123456, 0);
              writer.decimal(std::numeric_limits<std::int64_t>::min(), 3).end_array();
            }),
            "[1.5,2,-0.007,0,123456,-9223372036854775.808]\n");
}

TEST(JsonWriter, UntrustedTextStaysInItsString) {
  std::string text;
  for (int c = 0; c < 256; ++c) text += static_cast<char>(c);
  text += "\"}],\n\r\u2028</script>\xED\xA0\x80 é日😀";
  StringSink sink;
  json::Writer writer(sink);
  writer.begin_array().string(text).string("\x7F").end_array();
  ASSERT_TRUE(writer.finish().has_value());
  EXPECT_TRUE(is_valid_utf8(sink.text()));
  EXPECT_EQ(std::ranges::count_if(sink.text(), [](char c) { return c >= 0 && c < 0x20 && c != '\n'; }), 0);
  const auto value = boost::json::parse(sink.text());
  EXPECT_EQ(std::string_view(value.at(0).as_string()), to_valid_utf8(text));
  MemorySource source(sink.text(), "test");
  Reader reader(source);
  auto elements = reader.array();
  ASSERT_TRUE(elements.next());
  EXPECT_EQ(reader.string(), to_valid_utf8(text));
}

class FullSink final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    largest = std::max(largest, bytes.size());
    if (++writes == 2) return fail(ErrorCode::kSystem, "no space left");
    return {};
  }
  int writes = 0;
  std::size_t largest = 0;
};

TEST(JsonWriter, WritesBlocksAndKeepsTheFirstFailure) {
  FullSink sink;
  json::Writer writer(sink);
  writer.begin_array();
  for (int i = 0; i < 100'000; ++i) writer.integer(i);
  writer.end_array();
  EXPECT_EQ(writer.finish().error().message, "no space left");
  EXPECT_EQ(sink.writes, 2);
  EXPECT_LT(sink.largest, 70'000u);
}

// ---------------------------------------------------------------- sniffing

TEST(JsonOutline, ShowsTwoLevels) {
  const json::Outline outline = json::outline_of(
      "\xEF\xBB\xBF "
      "\n{\"nodes\":[{\"id\":1,\"x\":{\"deep\":1}},{\"later\":1}],\"head\":{\"id\":1},\"samples\":[1],"
      "\"name\":\"value\"}");
  for (const char* path :
       {"nodes", "nodes[].id", "nodes[].x", "head", "head.id", "samples", "samples[]#", "name"}) {
    EXPECT_TRUE(outline.has(path)) << path;
  }
  EXPECT_EQ(outline.paths.size(), 8u);
  EXPECT_TRUE(outline.has_text("name", "alu"));
  EXPECT_FALSE(outline.has_text("name", "other"));
  EXPECT_TRUE(json::outline_of("[{\"ph\":\"X\"").has("[].ph"));
}

TEST(JsonOutline, OfATextThatIsCutOrNoJson) {
  EXPECT_TRUE(json::outline_of("{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionN").has("nodes[].callFrame"));
  EXPECT_TRUE(json::outline_of("").paths.empty());
  EXPECT_TRUE(json::outline_of("main;parse 3\n").paths.empty());
  EXPECT_TRUE(json::outline_of("\"text\"").paths.empty());
}

}  // namespace
}  // namespace nodescope
