#include "source_maps/script_functions.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "source_maps/script_tokens.h"

namespace nodescope {

namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::uint32_t kNoToken = 0xFFFFFFFF;
// What is more than anybody writes ends the search.
constexpr std::size_t kMaxDepth = 10'000;
constexpr std::size_t kMaxFunctions = 1'000'000;
constexpr std::size_t kMaxChain = 20;  // a.b.c = …
// A type before "=" or "=>": longer ones give no name.
constexpr std::size_t kMaxTypeTokens = 200;

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_declaring(std::string_view word) {
  return is_one_of(word, std::to_array<std::string_view>({"const", "let", "var"}));
}

bool is_modifier(std::string_view word) {
  return is_one_of(word, std::to_array<std::string_view>({"abstract", "async", "declare", "default", "export",
                                                          "get", "override", "private", "protected", "public",
                                                          "readonly", "set", "static"}));
}

// What may stand before "(…) {" without being the name of a method.
bool is_no_method(std::string_view word) {
  return is_one_of(
      word, std::to_array<std::string_view>({"await", "catch", "for", "function", "if", "import", "return",
                                             "super", "switch", "typeof", "while", "with"}));
}

struct Name {
  std::string text;
  Naming naming = Naming::kUnknown;
  std::size_t first = kNone;  // the token at which what it is assigned to begins
};

class FunctionFinder {
 public:
  explicit FunctionFinder(std::string_view text)
      : text_(text), tokens_(read_tokens(text)), open_of_(tokens_.size(), kNoToken) {}

  std::vector<ScriptFunction> find() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (braces_.size() > kMaxDepth || found_.size() > kMaxFunctions) break;
      if (tokens_[i].kind == TokenKind::kWord) {
        look_at_word(i);
      } else if (tokens_[i].kind == TokenKind::kMark) {
        look_at_mark(i);
      }
    }
    std::ranges::stable_sort(found_, {}, &ScriptFunction::begin);
    return std::move(found_);
  }

 private:
  struct Brace {
    bool is_class = false;
    Name class_name;
    std::size_t parens = 0;  // that were open before it
  };

  std::string_view word(std::size_t i) const {
    return i < tokens_.size() ? text_.substr(tokens_[i].begin, tokens_[i].size) : std::string_view();
  }
  bool is(std::size_t i, std::string_view what) const { return word(i) == what; }
  bool is_word(std::size_t i) const { return i < tokens_.size() && tokens_[i].kind == TokenKind::kWord; }
  std::size_t begin(std::size_t i) const { return i < tokens_.size() ? tokens_[i].begin : text_.size(); }

  void look_at_word(std::size_t i) {
    if (is(i - 1, ".") || is(i - 1, "?.")) return;
    if (is(i, "function")) add_function(i);
    if (is(i, "class")) begin_class(i);
  }

  void look_at_mark(std::size_t i) {
    if (is(i, "(")) {
      parens_.push_back(i);
    } else if (is(i, ")")) {
      if (parens_.empty()) return;
      open_of_[i] = static_cast<std::uint32_t>(parens_.back());
      parens_.pop_back();
      add_method(open_of_[i], i);
    } else if (is(i, "{")) {
      braces_.push_back({});
      if (class_ && parens_.size() == class_->parens) braces_.back() = *std::exchange(class_, std::nullopt);
      braces_.back().parens = parens_.size();
    } else if (is(i, "}")) {
      if (braces_.empty()) return;
      // A parenthesis that was not closed is none, as in the text of JSX.
      parens_.resize(std::min(parens_.size(), braces_.back().parens));
      braces_.pop_back();
    } else if (is(i, "=>")) {
      add_arrow(i);
    }
  }

  // The token from which modifiers lead to `i`.
  std::size_t with_modifiers(std::size_t i) const {
    while (i > 0 && (is(i - 1, "*") || (is_word(i - 1) && is_modifier(word(i - 1))))) --i;
    return i;
  }

  void add(std::size_t first, std::size_t keyword, std::size_t parameters, const Name& name) {
    ScriptFunction function;
    function.begin = begin(std::min(first, name.first));
    function.keyword = begin(keyword);
    function.parameters = begin(parameters);
    function.first_parameter = begin(parameters + (is(parameters, "(") || is(parameters, "class") ? 1 : 0));
    function.name = name.text;
    function.naming = name.naming;
    found_.push_back(std::move(function));
  }

  static Name named(std::string_view text) { return {std::string(text), Naming::kNamed, kNone}; }

  void add_function(std::size_t i) {
    std::size_t next = i + 1;
    if (is(next, "*")) ++next;
    const bool has_name = is_word(next);
    const std::size_t first = with_modifiers(i);
    const Name name = has_name ? named(word(next)) : assigned_name(first);
    if (has_name) ++next;
    const std::size_t parameters = skip_type_parameters(next);
    if (is(parameters, "(")) add(first, i, parameters, name);
  }

  // Behind "<T extends Map<string, U>>", if that is at `i`.
  std::size_t skip_type_parameters(std::size_t i) const {
    if (!is(i, "<")) return i;
    std::size_t depth = 0;
    for (const std::size_t end = std::min(tokens_.size(), i + kMaxTypeTokens); i < end; ++i) {
      if (is(i, "<")) ++depth;
      if (is(i, ">") && --depth == 0) return i + 1;
    }
    return i;
  }

  // The token before "<T>(", where `open` is the parenthesis.
  std::size_t before_type_parameters(std::size_t open) const {
    if (open == 0 || !is(open - 1, ">")) return open - 1;
    std::size_t depth = 0;
    for (std::size_t i = open; i-- > 0 && open - i < kMaxTypeTokens;) {
      if (is(i, ">")) ++depth;
      if (is(i, "<") && --depth == 0) return i - 1;
    }
    return kNone;
  }

  // "name(…) {" and "name(…): Type {".
  void add_method(std::size_t open, std::size_t close) {
    const bool has_type = is(close + 1, ":");
    if (!has_type && !is(close + 1, "{")) return;
    const std::size_t name = before_type_parameters(open);
    if (name >= tokens_.size()) return;
    const Token& token = tokens_[name];
    const bool is_quoted = token.kind == TokenKind::kText;
    if (token.kind == TokenKind::kWord ? is_no_method(word(name))
                                       : !is_quoted && token.kind != TokenKind::kNumber)
      return;
    const std::size_t first = with_modifiers(name);
    if (is(first - 1, "function") || is(first - 1, ".") || is(first - 1, "new")) return;
    const bool is_member = first == 0 || is(first - 1, "{") || is(first - 1, "}") || is(first - 1, ";") ||
                           is(first - 1, ",") || first != name;
    if (has_type && !is_member) return;
    add(first, first, open, method_name(name, first));
  }

  Name method_name(std::size_t name, std::size_t first) const {
    const bool in_class = !braces_.empty() && braces_.back().is_class;
    if (is(name, "constructor") && in_class)
      return {braces_.back().class_name.text, braces_.back().class_name.naming, kNone};
    std::string text(unquoted(name));
    for (std::size_t i = first; i < name; ++i) {
      if (is(i, "get") || is(i, "set")) text = std::string(word(i)) + " " + text;
    }
    return named(text);
  }

  std::string_view unquoted(std::size_t i) const {
    const std::string_view text = word(i);
    return tokens_[i].kind == TokenKind::kText ? text.substr(1, text.size() - 2) : text;
  }

  void add_arrow(std::size_t arrow) {
    if (arrow == 0) return;
    if (is_word(arrow - 1)) add_arrow_from(arrow - 1);
    if (is(arrow - 1, ")")) {
      if (open_of_[arrow - 1] != kNoToken) add_arrow_from(open_of_[arrow - 1]);
      return;
    }
    // "(…): Type =>"
    std::size_t depth = 0;
    for (std::size_t i = arrow; i-- > 1 && arrow - i < kMaxTypeTokens;) {
      if (is_closing(i)) ++depth;
      if (is_opening(i) && depth-- == 0) return;
      if (depth == 0 && is(i, ":") && is(i - 1, ")") && open_of_[i - 1] != kNoToken)
        return add_arrow_from(open_of_[i - 1]);
      if (depth == 0 && (is(i, ";") || is(i, "="))) return;
    }
  }

  bool is_closing(std::size_t i) const { return is(i, ")") || is(i, "]") || is(i, "}") || is(i, ">"); }
  bool is_opening(std::size_t i) const { return is(i, "(") || is(i, "[") || is(i, "{") || is(i, "<"); }

  void add_arrow_from(std::size_t parameters) {
    std::size_t keyword = parameters;
    if (is(parameters, "(")) keyword = before_type_parameters(parameters) + 1;
    if (keyword > tokens_.size()) return;
    if (keyword > 0 && is(keyword - 1, "async")) --keyword;
    add(keyword, keyword, parameters, assigned_name(keyword));
  }

  // The name that a function without one gets from where it stands: `first` is its first token.
  Name assigned_name(std::size_t first) const {
    if (first == 0) return {};
    const std::size_t before = first - 1;
    if (is(first, "default") || is(before, "default") || (is(first, "export") && is(first + 1, "default")))
      return named("default");
    if (is(before, "=")) return name_before_equals(before);
    if (is(before, ":")) return name_of_property(before);
    const bool is_given =
        is(before, "(") || is(before, ",") || is(before, "=>") || is(before, "return") || is(before, "[");
    return {{}, is_given ? Naming::kAnonymous : Naming::kUnknown, kNone};
  }

  // "name: function", in an object.
  Name name_of_property(std::size_t colon) const {
    if (colon < 2 ||
        (tokens_[colon - 1].kind == TokenKind::kMark || tokens_[colon - 1].kind == TokenKind::kOther))
      return {};
    if (!is(colon - 2, "{") && !is(colon - 2, ",")) return {};
    return {std::string(unquoted(colon - 1)), Naming::kNamed, colon - 1};
  }

  Name name_before_equals(std::size_t equals) const {
    if (equals == 0 || !is_word(equals - 1)) return declared_with_type(equals);
    std::size_t first = equals - 1;
    std::string text(word(first));
    for (std::size_t i = 0; i < kMaxChain && first >= 2 && is(first - 1, ".") && is_word(first - 2); ++i) {
      first -= 2;
      if (!is(first, "this")) text = std::string(word(first)) + "." + text;
    }
    if (first > 0 && (is(first - 1, ".") || is(first - 1, "?."))) return {};
    // What follows a colon, a bar and so on is the end of a type, or it is another assignment.
    const bool is_name = first == 0 || tokens_[first - 1].kind == TokenKind::kWord || is(first - 1, ",") ||
                         is(first - 1, ";") || is(first - 1, "{") || is(first - 1, "}") ||
                         is(first - 1, "(") || is(first - 1, ")") || is(first - 1, "=") ||
                         is(first - 1, "=>") || is_on_new_line(first);
    const bool is_type =
        first > 0 &&
        is_one_of(word(first - 1), std::to_array<std::string_view>(
                                       {"is", "keyof", "typeof", "extends", "infer", "readonly"})) &&
        !is(first - 1, "readonly");
    if (!is_name || is_type) return declared_with_type(equals);
    return {std::move(text), Naming::kNamed, first};
  }

  bool is_on_new_line(std::size_t i) const {
    const std::size_t end = tokens_[i - 1].begin + tokens_[i - 1].size;
    return text_.substr(end, tokens_[i].begin - end).contains('\n') && !is(i - 1, ":") && !is(i - 1, "|") &&
           !is(i - 1, "&") && !is(i - 1, "<");
  }

  // "name: Type =": the type may hold anything.
  Name declared_with_type(std::size_t equals) const {
    std::size_t depth = 0;
    for (std::size_t i = equals; i-- > 2 && equals - i < kMaxTypeTokens;) {
      if (is_closing(i)) ++depth;
      if (is_opening(i) && depth-- == 0) return {};
      if (depth != 0) continue;
      if (is(i, ";") || is(i, "=")) return {};
      if (!is(i, ":")) continue;
      const std::size_t name = is(i - 1, "?") || is(i - 1, "!") ? i - 2 : i - 1;
      if (!is_word(name) || name == 0) return {};
      const std::string_view before = word(name - 1);
      const bool is_declared =
          is_declaring(before) || is_modifier(before) ||
          is_one_of(before, std::to_array<std::string_view>({",", ";", "{", "}", "("})) ||
          is_on_new_line(name);
      if (!is_declared) return {};
      return {std::string(word(name)), Naming::kNamed, name};
    }
    return {};
  }

  void begin_class(std::size_t i) {
    const bool has_name = is_word(i + 1) && !is(i + 1, "extends") && !is(i + 1, "implements");
    const bool begins = has_name || is(i + 1, "extends") || is(i + 1, "implements") || is(i + 1, "{");
    if (!begins) return;
    const std::size_t first = with_modifiers(i);
    const Name name = has_name ? named(word(i + 1)) : assigned_name(first);
    add(first, i, i, name);
    class_ = Brace{true, name, parens_.size()};
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> open_of_;  // of each ")"
  std::vector<std::size_t> parens_;     // that are open
  std::vector<Brace> braces_;
  std::optional<Brace> class_;  // whose body has not begun
  std::vector<ScriptFunction> found_;
};

}  // namespace

ScriptFunctions::ScriptFunctions(std::string_view text) : functions_(FunctionFinder(text).find()) {}

const ScriptFunction* ScriptFunctions::find(std::size_t offset) const {
  // Heads that begin before `offset` and reach over it are few, and near.
  constexpr std::size_t kMaxTried = 8;
  auto next = std::ranges::upper_bound(functions_, offset, {}, &ScriptFunction::begin);
  for (std::size_t tried = 0; next != functions_.begin() && tried < kMaxTried; ++tried) {
    --next;
    if (offset <= next->first_parameter) return &*next;
  }
  return nullptr;
}

}  // namespace nodescope
