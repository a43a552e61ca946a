#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope {

// Says what makes a text not well-formed XML 1.0, as far as our SVGs use it: elements, attributes, comments,
// CDATA, the five named entities and numeric ones.  Strict where an error would let data become markup.
class XmlChecker {
 public:
  explicit XmlChecker(std::string_view text) : text_(text) {}

  // What is wrong, and where; nothing if all is well.
  std::optional<std::string> check() {
    take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    while (error_.empty() && position_ < text_.size()) {
      if (peek("<!--")) {
        check_comment();
      } else if (peek("<![CDATA[")) {
        check_cdata();
      } else if (peek("</")) {
        check_end_tag();
      } else if (peek("<")) {
        check_start_tag();
      } else {
        check_text();
      }
    }
    if (error_.empty() && !open_.empty()) refuse("an element that is not closed");
    if (error_.empty() && roots_ != 1) refuse("not exactly one root");
    if (error_.empty()) return std::nullopt;
    return error_ + " at " + std::to_string(position_);
  }

  std::size_t count(std::string_view element) const {
    std::size_t found = 0;
    for (const std::string& name : elements_) found += name == element ? 1 : 0;
    return found;
  }

 private:
  bool peek(std::string_view token) const { return text_.substr(position_).starts_with(token); }
  bool take(std::string_view token) {
    if (!peek(token)) return false;
    position_ += token.size();
    return true;
  }
  void refuse(std::string_view what) {
    if (error_.empty()) error_ = what;
  }

  // Reads up to and including `end`; every character before it must be allowed in XML.
  std::string_view read_until(std::string_view end) {
    const std::size_t found = text_.find(end, position_);
    if (found == std::string_view::npos) {
      refuse("nothing ends it");
      return {};
    }
    const std::string_view inside = text_.substr(position_, found - position_);
    check_characters(inside);
    if (error_.empty()) position_ = found + end.size();
    return inside;
  }

  void check_comment() {
    take("<!--");
    if (read_until("--").ends_with('-')) refuse("a comment that ends with ---");
    if (!take(">")) refuse("-- inside a comment");
  }

  void check_cdata() {
    take("<![CDATA[");
    read_until("]]>");
  }

  std::string read_name() {
    const std::size_t begin = position_;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      const bool other = (c >= '0' && c <= '9') || c == '-' || c == ':' || c == '_';
      if (!letter && (position_ == begin || !other)) break;
      ++position_;
    }
    if (position_ == begin) refuse("a name is missing");
    return std::string(text_.substr(begin, position_ - begin));
  }

  void skip_blanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
  }

  void check_start_tag() {
    take("<");
    const std::string name = read_name();
    if (open_.empty()) ++roots_;
    elements_.push_back(name);
    std::vector<std::string> attributes;
    for (;;) {
      skip_blanks();
      if (take("/>")) return;
      if (take(">")) {
        open_.push_back(name);
        return;
      }
      const std::string attribute = read_name();
      if (!error_.empty()) return;
      for (const std::string& other : attributes) {
        if (other == attribute) refuse("an attribute twice");
      }
      attributes.push_back(attribute);
      if (!take("=\"")) refuse("an attribute without a value");
      const std::string_view value = read_until("\"");
      check_escapes(value);
      if (!error_.empty()) return;
    }
  }

  void check_end_tag() {
    take("</");
    const std::string name = read_name();
    if (!take(">")) refuse("an end tag that does not end");
    if (open_.empty() || open_.back() != name) {
      refuse("the wrong end tag");
    } else {
      open_.pop_back();
    }
  }

  void check_text() {
    const std::size_t end = std::min(text_.find('<', position_), text_.size());
    const std::string_view inside = text_.substr(position_, end - position_);
    if (open_.empty() && inside.find_first_not_of(" \n") != std::string_view::npos)
      refuse("text outside of the root");
    if (inside.find("]]>") != std::string_view::npos) refuse("]]> in text");
    check_characters(inside);
    check_escapes(inside);
    if (error_.empty()) position_ = end;
  }

  void check_escapes(std::string_view inside) {
    if (inside.find('<') != std::string_view::npos) refuse("a < in a value");
    for (std::size_t at = inside.find('&'); at != std::string_view::npos; at = inside.find('&', at + 1)) {
      const std::string_view rest = inside.substr(at);
      bool known = false;
      for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
        known = known || rest.starts_with(entity);
      if (!known) refuse("an unknown entity");
    }
  }

  void check_characters(std::string_view inside) {
    for (std::size_t i = 0; i < inside.size();) {
      const std::size_t length = character_length(inside.substr(i));
      if (length == 0) {
        position_ += i;
        refuse("a character that XML forbids");
        return;
      }
      i += length;
    }
  }

  // 0 for what is not UTF-8 or not a Char of XML 1.0.
  static std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return byte(0) >= 0x20 || byte(0) == '\n' || byte(0) == '\t' ? 1 : 0;
    const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
    if (byte(0) < 0xC2 || byte(0) > 0xF4 || text.size() < length) return 0;
    std::uint32_t value = byte(0) & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i) {
      if ((byte(i) & 0xC0u) != 0x80u) return 0;
      value = value << 6 | (byte(i) & 0x3Fu);
    }
    constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = value >= 0xD800 && value < 0xE000;
    if (value < kLeast[length] || value > 0x10FFFF || surrogate || value == 0xFFFE || value == 0xFFFF)
      return 0;
    return length;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t roots_ = 0;
  std::vector<std::string> open_;
  std::vector<std::string> elements_;
  std::string error_;
};

}  // namespace nodescope
