#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/text.h"
#include "binary/code_point.h"
#include "binary/demangle.h"
#include "binary/rust_name.h"

namespace nodescope {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// Recursion follows the nesting of types and paths; real names nest some ten levels.
constexpr std::uint32_t kMaxDepth = 200;
// Of the parser in total: back references make it read parts of the name again and again.
constexpr std::uint32_t kMaxSteps = 100'000;

struct Identifier {
  std::string_view text;
  bool is_punycode = false;
  std::uint64_t disambiguator = 0;
};

std::string_view basic_type(char tag) {
  constexpr std::array<std::string_view, 26> kNames = {
      "i8",   "bool", "char", "f64", "str", "f32", "",    "u8", "isize", "usize", "",    "i32", "u32",
      "i128", "u128", "_",    "",    "",    "i16", "u16", "()", "...",   "",      "i64", "u64", "!"};
  return is_lower(tag) ? kNames[static_cast<std::size_t>(tag - 'a')] : std::string_view{};
}

// Reads the symbol and prints as it goes.  Failure is sticky.
class V0Demangler {
 public:
  explicit V0Demangler(std::string_view symbol) : symbol_(symbol) {}

  std::optional<std::string> demangle() {
    if (is_digit(peek())) return std::nullopt;  // a version after 0, not defined yet
    print_path(true);
    // The crate that instantiated it: not printed.
    if (!failed_ && position_ < symbol_.size()) silently([&] { print_path(false); });
    if (failed_ || position_ != symbol_.size()) return std::nullopt;
    return std::move(out_);
  }

 private:
  char peek() const { return position_ < symbol_.size() ? symbol_[position_] : '\0'; }
  bool eat(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  char next() {
    const char c = peek();
    if (c == '\0') {
      fail();
    } else {
      ++position_;
    }
    return c;
  }
  void fail() { failed_ = true; }

  void print(std::string_view text) {
    if (failed_ || silent_) return;
    if (out_.size() + text.size() > kMaxDemangledBytes) return fail();
    out_ += text;
  }

  template <typename Body>
  void silently(Body body) {
    const bool before = std::exchange(silent_, true);
    body();
    silent_ = before;
  }

  template <typename Body>
  void nested(Body body) {
    if (depth_ == kMaxDepth || ++steps_ > kMaxSteps) return fail();
    ++depth_;
    if (!failed_) body();
    --depth_;
  }

  // "_" is 0, otherwise digits of base 62 plus one.
  std::uint64_t base_62() {
    if (eat('_')) return 0;
    std::uint64_t value = 0;
    while (!eat('_')) {
      const char c = next();
      if (failed_) return 0;
      std::uint64_t digit = 0;
      if (is_digit(c)) {
        digit = static_cast<std::uint64_t>(c - '0');
      } else if (is_lower(c)) {
        digit = static_cast<std::uint64_t>(c - 'a') + 10;
      } else if (is_upper(c)) {
        digit = static_cast<std::uint64_t>(c - 'A') + 36;
      } else {
        fail();
        return 0;
      }
      if (value > (UINT64_MAX - 62) / 62) {
        fail();
        return 0;
      }
      value = value * 62 + digit;
    }
    return value + 1;
  }

  std::uint64_t optional_base_62(char tag) { return eat(tag) ? base_62() + 1 : 0; }

  Identifier identifier() {
    Identifier result;
    result.disambiguator = optional_base_62('s');
    result.is_punycode = eat('u');
    std::size_t length = 0;
    if (!is_digit(peek())) fail();
    if (!eat('0')) {
      while (is_digit(peek()) && length <= symbol_.size()) {
        length = length * 10 + static_cast<std::size_t>(next() - '0');
      }
    }
    eat('_');
    if (failed_ || length > symbol_.size() - position_) {
      fail();
      return {};
    }
    result.text = symbol_.substr(position_, length);
    position_ += length;
    return result;
  }

  void print_identifier(const Identifier& identifier) {
    if (!identifier.is_punycode) return print(identifier.text);
    if (failed_ || silent_) return;
    const auto decoded = decode_punycode(identifier.text);
    print(decoded ? *decoded : std::string("punycode{").append(identifier.text).append("}"));
  }

  // Runs `body` at an earlier position.  Not where nothing is printed: only there the cost could grow without
  // end.
  template <typename Body>
  void at_back_reference(Body body) {
    const std::size_t tag = position_ - 1;
    const std::uint64_t target = base_62();
    if (failed_ || target >= tag) return fail();
    if (silent_) return;
    const std::size_t after = std::exchange(position_, static_cast<std::size_t>(target));
    nested(body);
    position_ = after;
  }

  void print_path(bool in_value) {
    nested([&] { print_path_of(next(), in_value); });
  }

  void print_path_of(char tag, bool in_value) {
    switch (tag) {
      case 'C':
        return print_identifier(identifier());
      case 'N':
        return print_nested_path(in_value);
      case 'M':
      case 'X':
        optional_base_62('s');
        silently([&] { print_path(in_value); });
        [[fallthrough]];
      case 'Y':
        print("<");
        print_type();
        if (tag != 'M') {
          print(" as ");
          print_path(false);
        }
        return print(">");
      case 'I':
        print_path(in_value);
        print(in_value ? "::<" : "<");
        print_list([&] { print_generic_argument(); });
        return print(">");
      case 'B':
        return at_back_reference([&] { print_path(in_value); });
      default:
        return fail();
    }
  }

  void print_nested_path(bool in_value) {
    const char space = next();
    if (!is_lower(space) && !is_upper(space)) return fail();
    print_path(in_value);
    const Identifier name = identifier();
    if (is_lower(space)) {
      if (name.text.empty()) return;
      print("::");
      return print_identifier(name);
    }
    print("::{");
    if (space == 'C') {
      print("closure");
    } else if (space == 'S') {
      print("shim");
    } else {
      print({&space, 1});
    }
    if (!name.text.empty()) {
      print(":");
      print_identifier(name);
    }
    print("#" + std::to_string(name.disambiguator) + "}");
  }

  // Elements up to an 'E'; gives their number.
  template <typename Element>
  std::size_t print_list(Element element, std::string_view separator = ", ") {
    std::size_t count = 0;
    while (!failed_ && !eat('E')) {
      if (count++ != 0) print(separator);
      element();
    }
    return count;
  }

  void print_generic_argument() {
    if (eat('L')) return print_lifetime(base_62());
    if (eat('K')) return print_const();
    print_type();
  }

  // 0 is '_, others count the enclosing binders outwards: 'a is the outermost.
  void print_lifetime(std::uint64_t index) {
    if (index == 0) return print("'_");
    if (index > bound_lifetimes_) return fail();
    print_lifetime_name(bound_lifetimes_ - index);
  }

  void print_lifetime_name(std::uint64_t depth) {
    if (depth >= 26) return print("'_" + std::to_string(depth));
    const char name[] = {'\'', static_cast<char>('a' + depth)};
    print({name, 2});
  }

  // for<'a, 'b> around `body`.
  template <typename Body>
  void in_binder(Body body) {
    const std::uint64_t count = optional_base_62('G');
    if (count > symbol_.size()) return fail();
    if (count != 0) {
      print("for<");
      for (std::uint64_t i = 0; i < count; ++i) {
        if (i != 0) print(", ");
        print_lifetime_name(bound_lifetimes_ + i);
      }
      print("> ");
    }
    bound_lifetimes_ += count;
    body();
    bound_lifetimes_ -= count;
  }

  void print_type() {
    nested([&] { print_type_of(next()); });
  }

  void print_type_of(char tag) {
    if (const std::string_view basic = basic_type(tag); !basic.empty()) return print(basic);
    switch (tag) {
      case 'R':
      case 'Q':
        print("&");
        if (eat('L')) {
          if (const std::uint64_t lifetime = base_62(); lifetime != 0) {
            print_lifetime(lifetime);
            print(" ");
          }
        }
        if (tag == 'Q') print("mut ");
        return print_type();
      case 'P':
        print("*const ");
        return print_type();
      case 'O':
        print("*mut ");
        return print_type();
      case 'A':
      case 'S':
        print("[");
        print_type();
        if (tag == 'A') {
          print("; ");
          print_const();
        }
        return print("]");
      case 'T': {
        print("(");
        const std::size_t count = print_list([&] { print_type(); });
        return print(count == 1 ? ",)" : ")");
      }
      case 'F':
        return in_binder([&] { print_function_type(); });
      case 'D':
        return print_dyn_type();
      case 'B':
        return at_back_reference([&] { print_type(); });
      default:
        --position_;
        return print_path(false);
    }
  }

  void print_function_type() {
    if (eat('U')) print("unsafe ");
    if (eat('K')) {
      print("extern \"");
      if (eat('C')) {
        print("C");
      } else {
        std::string abi(identifier().text);
        std::ranges::replace(abi, '_', '-');
        print(abi);
      }
      print("\" ");
    }
    print("fn(");
    print_list([&] { print_type(); });
    print(")");
    if (eat('u')) return;
    print(" -> ");
    print_type();
  }

  void print_dyn_type() {
    print("dyn ");
    in_binder([&] { print_list([&] { print_dyn_trait(); }, " + "); });
    if (!eat('L')) return fail();
    if (const std::uint64_t lifetime = base_62(); lifetime != 0) {
      print(" + ");
      print_lifetime(lifetime);
    }
  }

  // Iterator<Item = u8>: associated types join the arguments of the trait's path.
  void print_dyn_trait() {
    bool open = print_path_with_open_arguments();
    while (!failed_ && eat('p')) {
      print(open ? ", " : "<");
      open = true;
      print_identifier(identifier());
      print(" = ");
      print_type();
    }
    if (open) print(">");
  }

  bool print_path_with_open_arguments() {
    bool open = false;
    if (eat('B')) {
      at_back_reference([&] { open = print_path_with_open_arguments(); });
    } else if (eat('I')) {
      print_path(false);
      print("<");
      print_list([&] { print_generic_argument(); });
      open = true;
    } else {
      print_path(false);
    }
    return open;
  }

  void print_const() {
    nested([&] {
      if (eat('B')) return at_back_reference([&] { print_const(); });
      print_const_of(next());
    });
  }

  void print_const_of(char type) {
    switch (type) {
      case 'p':
        return print("_");
      case 'h':
      case 't':
      case 'm':
      case 'y':
      case 'o':
      case 'j':
        return print_integer();
      case 'a':
      case 's':
      case 'l':
      case 'x':
      case 'n':
      case 'i':
        if (eat('n')) print("-");
        return print_integer();
      case 'b':
        return print_bool();
      case 'c':
        return print_char();
      default:
        return fail();
    }
  }

  std::string_view hex_digits() {
    const std::size_t begin = position_;
    while (is_lower_hex(peek())) ++position_;
    const std::string_view digits = symbol_.substr(begin, position_ - begin);
    if (!eat('_')) fail();
    return digits;
  }

  void print_integer() {
    const std::string_view digits = hex_digits();
    if (digits.empty()) return print("0");
    const auto value = parse_hex(digits);
    print(value ? std::to_string(*value) : "0x" + std::string(digits));
  }

  void print_bool() {
    const auto value = parse_hex(hex_digits());
    if (!value || *value > 1) return fail();
    print(*value == 1 ? "true" : "false");
  }

  void print_char() {
    const auto value = parse_hex(hex_digits());
    if (!value || !is_scalar_value(*value)) return fail();
    std::string text = "'";
    append_utf8(text, static_cast<std::uint32_t>(*value));
    print(text + "'");
  }

  std::string_view symbol_;
  std::size_t position_ = 0;
  std::string out_;
  std::uint64_t bound_lifetimes_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t steps_ = 0;
  bool silent_ = false;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> demangle_rust_v0(std::string_view name) {
  if (!name.starts_with("_R")) return std::nullopt;
  name.remove_prefix(2);
  // What the compiler adds to clones: ".llvm.123", ".cold".
  return V0Demangler(name.substr(0, name.find('.'))).demangle();
}

}  // namespace nodescope
