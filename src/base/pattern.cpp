#include "base/pattern.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>

#include "base/text.h"

namespace nodescope {

namespace {

using ByteSet = std::bitset<256>;

// Matching costs at most this many steps per byte of a name.
constexpr std::size_t kMaxInstructions = 5'000;
constexpr int kMaxNesting = 100;
constexpr std::size_t kMaxPatternBytes = 10'000;
constexpr std::uint32_t kNoLimit = UINT32_MAX;

ByteSet range(unsigned char first, unsigned char last) {
  ByteSet set;
  for (unsigned c = first; c <= last; ++c) set.set(c);
  return set;
}

ByteSet single(char c) {
  return range(static_cast<unsigned char>(c), static_cast<unsigned char>(c));
}

ByteSet word_bytes() {
  return range('a', 'z') | range('A', 'Z') | range('0', '9') | single('_');
}

bool is_word(char c) {
  return (std::isalnum(static_cast<unsigned char>(c)) != 0 && c >= 0) || c == '_';
}

// The set of \d, \w, \s and their opposites.
std::optional<ByteSet> class_escape(char c) {
  switch (c) {
    case 'd':
      return range('0', '9');
    case 'D':
      return ~range('0', '9');
    case 'w':
      return word_bytes();
    case 'W':
      return ~word_bytes();
    case 's':
      return range('\t', '\r') | single(' ');
    case 'S':
      return ~(range('\t', '\r') | single(' '));
    default:
      return std::nullopt;
  }
}

std::optional<char> control_escape(char c) {
  switch (c) {
    case 't':
      return '\t';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    default:
      return std::nullopt;
  }
}

ByteSet without_case(ByteSet set) {
  for (unsigned c = 'a'; c <= 'z'; ++c) {
    const unsigned upper = c - 'a' + 'A';
    if (set.test(c) || set.test(upper)) set.set(c).set(upper);
  }
  return set;
}

std::size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte >= 0xF0) return 4;
  if (byte >= 0xE0) return 3;
  return byte >= 0xC0 ? 2 : 1;
}

}  // namespace

// Text -> syntax tree -> program.
class PatternCompiler {
 public:
  PatternCompiler(std::string_view text, bool ignore_case) : text_(text), ignore_case_(ignore_case) {}

  Result<Pattern> compile() {
    if (text_.size() > kMaxPatternBytes) {
      return fail(ErrorCode::kUsage,
                  fmt::format("a regular expression of {} bytes is too long", text_.size()));
    }
    const std::uint32_t root = parse_alternatives(0);
    if (error_.empty() && position_ < text_.size()) refuse("a ) without its (");
    if (error_.empty()) {
      const std::uint32_t match = add_instruction({Op::kMatch});
      entry_ = emit(root, match);
    }
    if (!error_.empty()) {
      return fail(ErrorCode::kUsage,
                  fmt::format("the regular expression \"{}\" has {}", printable(text_), error_));
    }
    // The matcher starts at instruction 0.
    std::swap(pattern_.program_[0], pattern_.program_[entry_]);
    for (auto& instruction : pattern_.program_) {
      instruction.next = swapped(instruction.next);
      if (instruction.op == Op::kSplit) instruction.other = swapped(instruction.other);
    }
    return std::move(pattern_);
  }

 private:
  using Op = Pattern::Op;
  enum class Kind : std::uint8_t { kEmpty, kSet, kAssertion, kSequence, kChoice, kRepeat };
  struct Node {
    Kind kind = Kind::kEmpty;
    Op assertion = Op::kMatch;
    ByteSet set;
    std::vector<std::uint32_t> parts;
    std::uint32_t least = 0;
    std::uint32_t most = 0;
  };

  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return text_[position_]; }
  bool take(char c) {
    if (at_end() || peek() != c) return false;
    ++position_;
    return true;
  }
  bool take(std::string_view token) {
    if (!text_.substr(position_).starts_with(token)) return false;
    position_ += token.size();
    return true;
  }

  std::uint32_t refuse(std::string_view what) {
    if (error_.empty()) error_ = fmt::format("{} at {}", what, position_);
    return add_node({});
  }

  std::uint32_t add_node(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  std::uint32_t add_set(ByteSet set) {
    Node node;
    node.kind = Kind::kSet;
    node.set = ignore_case_ ? without_case(set) : set;
    return add_node(std::move(node));
  }
  std::uint32_t add_assertion(Op op) {
    Node node;
    node.kind = Kind::kAssertion;
    node.assertion = op;
    return add_node(std::move(node));
  }
  std::uint32_t add_list(Kind kind, std::vector<std::uint32_t> parts) {
    if (parts.size() == 1) return parts[0];
    Node node;
    node.kind = parts.empty() ? Kind::kEmpty : kind;
    node.parts = std::move(parts);
    return add_node(std::move(node));
  }

  std::uint32_t parse_alternatives(int nesting) {
    if (nesting > kMaxNesting) return refuse("groups nested too deeply");
    std::vector<std::uint32_t> choices;
    do {
      std::vector<std::uint32_t> sequence;
      while (error_.empty() && !at_end() && peek() != '|' && peek() != ')') {
        sequence.push_back(parse_repeat(parse_atom(nesting)));
      }
      choices.push_back(add_list(Kind::kSequence, std::move(sequence)));
    } while (error_.empty() && take('|'));
    return add_list(Kind::kChoice, std::move(choices));
  }

  std::uint32_t parse_atom(int nesting) {
    const char c = peek();
    switch (c) {
      case '(':
        ++position_;
        return parse_group(nesting);
      case '[':
        ++position_;
        return parse_class();
      case '\\':
        ++position_;
        return parse_escape();
      case '.':
        ++position_;
        return add_set(~single('\n'));
      case '^':
        ++position_;
        return add_assertion(Op::kBegin);
      case '$':
        ++position_;
        return add_assertion(Op::kEnd);
      case '*':
      case '+':
      case '?':
        return refuse(fmt::format("nothing that {} could repeat", c));
      default:
        return parse_literal();
    }
  }

  std::uint32_t parse_literal() {
    const std::size_t length = std::min(utf8_length(peek()), text_.size() - position_);
    std::vector<std::uint32_t> bytes;
    for (const char byte : text_.substr(position_, length)) bytes.push_back(add_set(single(byte)));
    position_ += length;
    return add_list(Kind::kSequence, std::move(bytes));
  }

  std::uint32_t parse_group(int nesting) {
    if (!take("?:") && take('?')) return refuse("look-around or a named group, which are not supported,");
    const std::uint32_t group = parse_alternatives(nesting + 1);
    if (error_.empty() && !take(')')) return refuse("a ( without its )");
    return group;
  }

  std::uint32_t parse_escape() {
    if (at_end()) return refuse("a single \\");
    const char c = peek();
    if (c == 'b' || c == 'B') {
      ++position_;
      return add_assertion(c == 'b' ? Op::kWordBoundary : Op::kNoWordBoundary);
    }
    if (const auto set = class_escape(c)) {
      ++position_;
      return add_set(*set);
    }
    const auto byte = parse_escaped_byte();
    return byte ? add_set(single(*byte)) : add_node({});
  }

  // After the backslash.
  std::optional<char> parse_escaped_byte() {
    const char c = peek();
    if (const auto control = control_escape(c)) {
      ++position_;
      return *control;
    }
    if (c == 'x') {
      const std::string_view digits = text_.substr(position_ + 1, 2);
      const auto value = parse_number<std::uint8_t>(digits, 16);
      if (!value || digits.size() != 2) {
        refuse("\\x without two hexadecimal digits");
        return std::nullopt;
      }
      position_ += 3;
      return static_cast<char>(*value);
    }
    if (is_word(c)) {
      refuse(fmt::format("the unknown escape \\{}", c));
      return std::nullopt;
    }
    ++position_;
    return c;
  }

  std::uint32_t parse_class() {
    const bool negated = take('^');
    ByteSet set;
    bool first = true;
    while (error_.empty()) {
      if (at_end()) return refuse("a [ without its ]");
      if (!first && take(']')) break;
      first = false;
      set |= parse_class_item();
    }
    if (ignore_case_) set = without_case(set);
    return add_set(negated ? ~set : set);
  }

  ByteSet parse_class_item() {
    if (peek() == '\\' && position_ + 1 < text_.size()) {
      if (const auto set = class_escape(text_[position_ + 1])) {
        position_ += 2;
        return *set;
      }
    }
    const auto low = parse_class_byte();
    if (!low) return {};
    const std::string_view rest = text_.substr(position_);
    if (rest.size() < 2 || rest[0] != '-' || rest[1] == ']') return single(*low);
    ++position_;
    const auto high = parse_class_byte();
    if (!high) return {};
    const auto first = static_cast<unsigned char>(*low);
    const auto last = static_cast<unsigned char>(*high);
    if (last < first) {
      refuse("a range that runs backwards");
      return {};
    }
    return range(first, last);
  }

  std::optional<char> parse_class_byte() {
    if (take('\\')) {
      if (at_end()) {
        refuse("a [ without its ]");
        return std::nullopt;
      }
      return parse_escaped_byte();
    }
    const char c = peek();
    if (static_cast<unsigned char>(c) >= 0x80) {
      refuse("a character beyond ASCII inside [ ], where (a|b) is needed,");
      return std::nullopt;
    }
    ++position_;
    return c;
  }

  std::uint32_t parse_repeat(std::uint32_t atom) {
    while (error_.empty() && !at_end()) {
      std::uint32_t least = 0;
      std::uint32_t most = kNoLimit;
      if (take('+')) {
        least = 1;
      } else if (take('?')) {
        most = 1;
      } else if (!take('*')) {
        const auto bounds = parse_bounds();
        if (!bounds) return atom;
        least = bounds->first;
        most = bounds->second;
      }
      take('?');  // lazy: the same for a search that only says yes or no
      Node node;
      node.kind = Kind::kRepeat;
      node.parts = {atom};
      node.least = least;
      node.most = most;
      atom = add_node(std::move(node));
    }
    return atom;
  }

  // {n}, {n,} or {n,m}.  A { that begins none of them is an ordinary character.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> parse_bounds() {
    if (peek() != '{') return std::nullopt;
    const std::size_t close = text_.find('}', position_);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view inside = text_.substr(position_ + 1, close - position_ - 1);
    const std::size_t comma = inside.find(',');
    const auto least = parse_number<std::uint32_t>(inside.substr(0, comma));
    if (!least) return std::nullopt;
    std::uint32_t most = *least;
    if (comma != std::string_view::npos) {
      const std::string_view upper = inside.substr(comma + 1);
      const auto value = upper.empty() ? std::optional(kNoLimit) : parse_number<std::uint32_t>(upper);
      if (!value) return std::nullopt;
      most = *value;
    }
    if (most < *least) refuse("a repetition whose bounds run backwards");
    position_ = close + 1;
    return std::pair(*least, most);
  }

  std::uint32_t add_instruction(Pattern::Instruction instruction) {
    if (pattern_.program_.size() >= kMaxInstructions) {
      if (error_.empty()) error_ = "too many repetitions or characters";
      return 0;
    }
    pattern_.program_.push_back(instruction);
    return static_cast<std::uint32_t>(pattern_.program_.size() - 1);
  }

  // Emits `index` so that it continues at `next`; returns its entry.  Recursion is bounded by kMaxNesting
  // groups and by kMaxPatternBytes for a chain of repeats.
  std::uint32_t emit(std::uint32_t index, std::uint32_t next) {
    if (!error_.empty()) return 0;
    const Node& node = nodes_[index];
    switch (node.kind) {
      case Kind::kEmpty:
        return next;
      case Kind::kSet:
        pattern_.sets_.push_back(node.set);
        return add_instruction({Op::kByte, next, static_cast<std::uint32_t>(pattern_.sets_.size() - 1)});
      case Kind::kAssertion:
        return add_instruction({node.assertion, next});
      case Kind::kSequence: {
        for (std::size_t i = node.parts.size(); i-- > 0;) next = emit(node.parts[i], next);
        return next;
      }
      case Kind::kChoice: {
        std::uint32_t entry = emit(node.parts.back(), next);
        for (std::size_t i = node.parts.size() - 1; i-- > 0;) {
          entry = add_instruction({Op::kSplit, emit(node.parts[i], next), entry});
        }
        return entry;
      }
      case Kind::kRepeat:
        return emit_repeat(node, next);
    }
    return next;
  }

  std::uint32_t emit_repeat(const Node& node, std::uint32_t next) {
    if (node.most == kNoLimit) {
      const std::uint32_t loop = add_instruction({Op::kSplit, 0, next});
      if (!error_.empty()) return 0;
      const std::uint32_t body = emit(node.parts[0], loop);
      if (!error_.empty()) return 0;
      pattern_.program_[loop].next = body;
      next = loop;
    } else {
      const std::uint32_t done = next;
      for (std::uint32_t i = node.least; i < node.most && error_.empty(); ++i) {
        next = add_instruction({Op::kSplit, emit(node.parts[0], next), done});
      }
    }
    for (std::uint32_t i = 0; i < node.least && error_.empty(); ++i) {
      const std::uint32_t entry = emit(node.parts[0], next);
      if (entry == next) break;  // nothing, repeated
      next = entry;
    }
    return next;
  }

  std::uint32_t swapped(std::uint32_t target) const {
    if (target == 0) return entry_;
    return target == entry_ ? 0 : target;
  }

  std::string_view text_;
  bool ignore_case_;
  std::size_t position_ = 0;
  std::vector<Node> nodes_;
  std::string error_;
  std::uint32_t entry_ = 0;
  Pattern pattern_;
};

// All places in the program at once, byte by byte.
class PatternMatcher {
 public:
  PatternMatcher(const Pattern& pattern, std::string_view text)
      : pattern_(pattern), text_(text), seen_(pattern.program_.size(), 0) {}

  bool run() {
    for (std::size_t i = 0;; ++i) {
      ++step_;
      waiting_.clear();
      bool matched = follow(0, i);  // the search may begin anywhere
      for (const std::uint32_t place : reached_) matched = matched || follow(place, i);
      if (matched) return true;
      if (i == text_.size()) return false;
      reached_.clear();
      for (const std::uint32_t place : waiting_) {
        const auto& instruction = pattern_.program_[place];
        if (pattern_.sets_[instruction.other].test(static_cast<unsigned char>(text_[i]))) {
          reached_.push_back(instruction.next);
        }
      }
    }
  }

 private:
  using Op = Pattern::Op;

  // Collects in waiting_ the byte instructions that `place` leads to without reading; true at a match.
  bool follow(std::uint32_t place, std::size_t position) {
    open_.push_back(place);
    bool matched = false;
    while (!open_.empty()) {
      const std::uint32_t current = open_.back();
      open_.pop_back();
      if (seen_[current] == step_) continue;
      seen_[current] = step_;
      const auto& instruction = pattern_.program_[current];
      switch (instruction.op) {
        case Op::kByte:
          waiting_.push_back(current);
          break;
        case Op::kMatch:
          matched = true;
          break;
        case Op::kSplit:
          open_.push_back(instruction.other);
          open_.push_back(instruction.next);
          break;
        default:
          if (holds(instruction.op, position)) open_.push_back(instruction.next);
      }
    }
    return matched;
  }

  bool holds(Op assertion, std::size_t position) const {
    if (assertion == Op::kBegin) return position == 0;
    if (assertion == Op::kEnd) return position == text_.size();
    const bool before = position > 0 && is_word(text_[position - 1]);
    const bool after = position < text_.size() && is_word(text_[position]);
    return (before != after) == (assertion == Op::kWordBoundary);
  }

  const Pattern& pattern_;
  std::string_view text_;
  std::vector<std::uint64_t> seen_;  // the step in which an instruction was last visited
  std::uint64_t step_ = 0;
  std::vector<std::uint32_t> waiting_;
  std::vector<std::uint32_t> reached_;
  std::vector<std::uint32_t> open_;
};

Result<Pattern> Pattern::parse(std::string_view text, bool ignore_case) {
  return PatternCompiler(text, ignore_case).compile();
}

bool Pattern::found_in(std::string_view text) const {
  return PatternMatcher(*this, text).run();
}

}  // namespace nodescope
