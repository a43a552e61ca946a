#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nodescope {

enum class LineEvent : std::uint8_t {
  kEdited,
  kComplete,   // Tab
  kDone,       // Enter
  kCancelled,  // Ctrl-C
  kEnd,        // Ctrl-D on an empty line
};

// A line while it is typed: what the keys of a terminal do to it, with the lines before it at hand.
class EditedLine {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 10;

  // `history`, the oldest first, is borrowed.
  explicit EditedLine(std::span<const std::string> history) : history_(history), place_(history.size()) {}

  LineEvent feed(char byte);
  void insert(std::string_view text);

  const std::string& text() const { return text_; }
  std::size_t cursor() const { return cursor_; }  // in bytes

 private:
  enum class Escape : std::uint8_t { kNone, kBegun, kSequence };

  LineEvent control(char byte);
  void end_sequence(char last);
  void show_history(std::size_t place);
  void erase(std::size_t begin, std::size_t end);
  std::size_t before(std::size_t at) const;
  std::size_t after(std::size_t at) const;
  std::size_t word_before() const;

  std::span<const std::string> history_;
  std::size_t place_;       // in the history; its size: the line itself
  std::string unfinished_;  // that line while another is shown
  std::string text_;
  std::size_t cursor_ = 0;
  Escape escape_ = Escape::kNone;
  std::string parameters_;
};

}  // namespace nodescope
