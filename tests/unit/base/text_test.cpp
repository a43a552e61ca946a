#include "base/text.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

TEST(Text, ParsesOnlyWholeNumbers) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<int>("-7"), -7);
  EXPECT_EQ(parse_number<double>("1.5"), 1.5);
  EXPECT_EQ(parse_hex("ffffffff81000000"), 0xffffffff81000000u);
  EXPECT_FALSE(parse_number<int>(""));
  EXPECT_FALSE(parse_number<int>("42 "));
  EXPECT_FALSE(parse_number<int>("99999999999"));
  EXPECT_FALSE(parse_hex("0x10"));
}

TEST(Text, RecognisesUtf8) {
  EXPECT_TRUE(is_valid_utf8("plain, ü, €, 😀"));
  EXPECT_FALSE(is_valid_utf8("\xC3"));              // cut
  EXPECT_FALSE(is_valid_utf8("\xC0\xAF"));          // overlong
  EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(is_valid_utf8("\xF4\x90\x80\x80"));  // beyond U+10FFFF
}

TEST(Text, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(to_valid_utf8("a\xFF"
                          "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(to_valid_utf8("ü"), "ü");
}

TEST(Text, PrintableTextCannotSteerATerminal) {
  EXPECT_EQ(printable("a\x1B[31mb\n"), "a\\x1b[31mb\\x0a");
  EXPECT_EQ(printable("\u202Eevil"), "\\u{202e}evil");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b");  // CSI as a C1 control
  EXPECT_EQ(printable("häßlich"), "häßlich");
}

TEST(Text, NumbersForPeople) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1234567), "1,234,567");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KB");
  EXPECT_EQ(human_duration_ns(1'500'000'000), "1.50 s");
  EXPECT_EQ(human_duration_ns(2'500'000), "2.5 ms");
}

TEST(Text, ValuesOfAddressesAreDecodedAsBrowsersEncodeThem) {
  EXPECT_EQ(decode_query_value(""), "");
  EXPECT_EQ(decode_query_value("a+b%20c%2B%2f%F0%9F%90%A2"), "a b c+/\U0001F422");
  EXPECT_EQ(decode_query_value("%4"), std::nullopt);
  EXPECT_EQ(decode_query_value("%-1"), std::nullopt);
  EXPECT_EQ(decode_query_value("100%"), std::nullopt);
}

}  // namespace
}  // namespace nodescope
