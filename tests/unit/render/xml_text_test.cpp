#include "render/xml_text.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  append_xml_text(out, text);
  return out;
}

TEST(XmlText, EscapesMarkup) {
  EXPECT_EQ(escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(escaped("]]>"), "]]&gt;");
}

TEST(XmlText, ShowsControlCharacters) {
  EXPECT_EQ(escaped(std::string_view("a\0b\x1b\n\t\x7f", 7)), "a␀b␛␊␉␡");
}

TEST(XmlText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(escaped("a\xff"), "a\uFFFD");
  EXPECT_EQ(escaped("\xc3"), "\uFFFD");
  EXPECT_EQ(escaped("\xc0\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");            // a surrogate
  EXPECT_EQ(escaped("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond Unicode
}

TEST(XmlText, ReplacesWhatXmlForbids) {
  EXPECT_EQ(escaped("\xef\xbf\xbe"), "\uFFFD");  // U+FFFE
  EXPECT_EQ(escaped("\xc2\x85"), "\uFFFD");      // U+0085
  EXPECT_EQ(escaped("\u2028"), "\uFFFD");
}

TEST(XmlText, NamesMarksThatChangeTheDirection) {
  EXPECT_EQ(escaped("a\u202Eb\u2066\u061C"), "a\\u{202e}b\\u{2066}\\u{061c}");
}

TEST(XmlText, KeepsOrdinaryText) {
  EXPECT_EQ(escaped("é漢字😀 λ"), "é漢字😀 λ");
}

TEST(XmlText, CutsLongNamesBetweenCharacters) {
  std::string out;
  append_xml_name(out, "abcdefghij", 5);
  EXPECT_EQ(out, "abcde… [10 bytes]");
  out.clear();
  append_xml_name(out, "abéé", 5);  // six bytes; the fifth is half of a character
  EXPECT_EQ(out, "abé… [6 bytes]");
  out.clear();
  append_xml_name(out, "\x80\x80\x80\x80\x80\x80\x80\x80", 7);
  EXPECT_NE(out.find("[8 bytes]"), std::string::npos);
}

TEST(XmlText, CannotEndAComment) {
  std::string out = "<!-- ";
  append_xml_comment(out, "--> a -- b -");
  EXPECT_EQ(out, "<!-- - -&gt; a - - b - ");
}

}  // namespace
}  // namespace nodescope
