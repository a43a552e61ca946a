#include "base/pattern.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace nodescope {
namespace {

bool found(std::string_view pattern, std::string_view text, bool ignore_case = false) {
  const auto parsed = Pattern::parse(pattern, ignore_case);
  EXPECT_TRUE(parsed) << pattern << ": " << parsed.error().message;
  return parsed && parsed->found_in(text);
}

TEST(Pattern, AgreesWithStandardRegexOnShortTexts) {
  constexpr std::string_view kPatterns[] = {
      "",         "a",      "ab",      "a|b",     "^a",     "b$",    "^ab$",          "a*",       "a+b",
      "a?b",      "(ab)+c", "(a|b)*c", "[abc]+d", "[^a]b",  "a.c",   "a{2}",          "a{2,}b",   "a{1,2}b",
      "\\bab\\b", "a\\Bb",  "\\d+",    "\\w+\\s", "[a-c]x", "a\\.b", "(?:ab)*",       "(|a)b",    "a**",
      "(a*)*b",   "[]a]",   "x{",      "[\\d-]",  "\\x41",  "a+?b",  "(a|ab)(c|bcd)", "^(a|b)+$", "[a-]",
      "\\S\\D",
  };
  constexpr std::string_view kTexts[] = {
      "",   "a", "b",   "ab",  "abc",   "aab",  "aaab", "cab", "a.b", "axb", "abcabc", "ba",  "bb",  "abab c",
      "a1", "1", "12-", "a b", "ab ab", "abcd", "bcdx", "A",   "]",   "x{",  "-",      "aXc", "\tb", "ccx"};
  for (const std::string_view pattern : kPatterns) {
    // ECMAScript forbids what POSIX allows in these two; ours takes the useful reading.
    if (pattern == "[]a]" || pattern == "x{" || pattern == "a**") continue;
    const std::regex expected((std::string(pattern)));
    for (const std::string_view text : kTexts) {
      EXPECT_EQ(found(pattern, text), std::regex_search(std::string(text), expected))
          << pattern << " in " << text;
    }
  }
}

TEST(Pattern, IgnoresCaseWhereAsked) {
  EXPECT_FALSE(found("Json", "JSON.parse"));
  EXPECT_TRUE(found("Json", "JSON.parse", true));
  EXPECT_TRUE(found("[a-c]X", "Bx", true));
  EXPECT_FALSE(found("[^a]", "A", true));
}

TEST(Pattern, TakesBracesAndBracketsLiterallyWhereTheyBeginNothing) {
  EXPECT_TRUE(found("x{", "x{"));
  EXPECT_TRUE(found("[]a]", "]"));
  EXPECT_TRUE(found("a**", ""));
}

TEST(Pattern, MatchesTextBeyondAscii) {
  EXPECT_TRUE(found("é+$", "caféé"));
  EXPECT_TRUE(found("漢.*字", "x漢..字"));
  EXPECT_FALSE(found("^é$", "e"));
}

TEST(Pattern, RefusesWhatItDoesNotKnow) {
  for (const std::string_view bad : {"(", ")", "a)", "[a", "*a", "(?=a)", "(?<n>a)", "\\1", "\\q", "a{3,2}",
                                     "\\", "[z-a]", "\\x4", "[é]", "a{1000}{1000}"}) {
    const auto parsed = Pattern::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::kUsage);
    EXPECT_NE(parsed.error().message.find("regular expression"), std::string::npos);
  }
  EXPECT_FALSE(Pattern::parse(std::string(1000, '(') + std::string(1000, ')')));
  EXPECT_FALSE(Pattern::parse(std::string(100'000, 'a')));
}

// A backtracking engine would not come back from any of these.
TEST(Pattern, IsLinearOnHostileNames) {
  const std::string name(300'000, 'a');
  EXPECT_FALSE(found("(a+)+b", name));
  EXPECT_FALSE(found("(a|aa)*c", name));
  EXPECT_FALSE(found(".*a.*a.*a.*x", name));
  EXPECT_TRUE(found("a{50}$", name));
}

}  // namespace
}  // namespace nodescope
