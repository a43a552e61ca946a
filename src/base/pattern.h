#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nodescope {

// A regular expression that is searched for in names.  Names in a profile are hostile, so the time is linear
// in the length of the name whatever the pattern: no backtracking, no recursion, no exception.
//
// Known: . | ( ) (?: ) * + ? {n} {n,} {n,m} (lazy forms too) ^ $ \b \B [abc] [^a-z] \d \D \w \W \s \S \t \n
// \r \f \v \xHH and a backslash before any punctuation.  Refused: back-references, look-around, named groups.
// Text is bytes: a character beyond ASCII stands for its UTF-8 bytes, `.` is one byte, and [ ] takes ASCII
// only.
class Pattern {
 public:
  static Result<Pattern> parse(std::string_view text, bool ignore_case = false);

  bool found_in(std::string_view text) const;

 private:
  friend class PatternCompiler;
  friend class PatternMatcher;

  enum class Op : std::uint8_t { kByte, kSplit, kBegin, kEnd, kWordBoundary, kNoWordBoundary, kMatch };
  struct Instruction {
    Op op = Op::kMatch;
    std::uint32_t next = 0;
    std::uint32_t other = 0;  // kSplit: the second way; kByte: the index of its set
  };

  std::vector<Instruction> program_;
  std::vector<std::bitset<256>> sets_;
};

}  // namespace nodescope
