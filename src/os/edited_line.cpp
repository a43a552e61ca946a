#include "os/edited_line.h"

namespace nodescope {

namespace {

constexpr char kEscape = '\033';
constexpr char kDelete = '\177';

constexpr char control_of(char letter) {
  return static_cast<char>(letter - 'a' + 1);
}

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80;
}

}  // namespace

std::size_t EditedLine::before(std::size_t at) const {
  if (at > 0) --at;
  while (at > 0 && continues_character(text_[at])) --at;
  return at;
}

std::size_t EditedLine::after(std::size_t at) const {
  if (at < text_.size()) ++at;
  while (at < text_.size() && continues_character(text_[at])) ++at;
  return at;
}

std::size_t EditedLine::word_before() const {
  std::size_t at = cursor_;
  while (at > 0 && text_[at - 1] == ' ') --at;
  while (at > 0 && text_[at - 1] != ' ') --at;
  return at;
}

void EditedLine::erase(std::size_t begin, std::size_t end) {
  text_.erase(begin, end - begin);
  cursor_ = begin;
}

void EditedLine::insert(std::string_view text) {
  if (text_.size() + text.size() > kMaxBytes) return;
  text_.insert(cursor_, text);
  cursor_ += text.size();
}

void EditedLine::show_history(std::size_t place) {
  if (place > history_.size()) return;
  if (place_ == history_.size()) unfinished_ = text_;
  place_ = place;
  text_ = place == history_.size() ? unfinished_ : history_[place];
  cursor_ = text_.size();
}

// "\033[A" and "\033OA", with numbers before the last letter where modifiers are pressed.
void EditedLine::end_sequence(char last) {
  escape_ = Escape::kNone;
  switch (last) {
    case 'A':
      return place_ > 0 ? show_history(place_ - 1) : void();
    case 'B':
      return show_history(place_ + 1);
    case 'C':
      cursor_ = after(cursor_);
      return;
    case 'D':
      cursor_ = before(cursor_);
      return;
    case 'H':
      cursor_ = 0;
      return;
    case 'F':
      cursor_ = text_.size();
      return;
    case '~':
      if (parameters_ == "3") erase(cursor_, after(cursor_));
      if (parameters_ == "1" || parameters_ == "7") cursor_ = 0;
      if (parameters_ == "4" || parameters_ == "8") cursor_ = text_.size();
      return;
    default:
      return;
  }
}

LineEvent EditedLine::control(char byte) {
  switch (byte) {
    case '\r':
    case '\n':
      return LineEvent::kDone;
    case '\t':
      return LineEvent::kComplete;
    case control_of('c'):
      return LineEvent::kCancelled;
    case control_of('d'):
      if (text_.empty()) return LineEvent::kEnd;
      erase(cursor_, after(cursor_));
      break;
    case control_of('h'):
    case kDelete:
      erase(before(cursor_), cursor_);
      break;
    case control_of('a'):
      cursor_ = 0;
      break;
    case control_of('e'):
      cursor_ = text_.size();
      break;
    case control_of('b'):
      cursor_ = before(cursor_);
      break;
    case control_of('f'):
      cursor_ = after(cursor_);
      break;
    case control_of('k'):
      text_.resize(cursor_);
      break;
    case control_of('u'):
      erase(0, cursor_);
      break;
    case control_of('w'):
      erase(word_before(), cursor_);
      break;
    case control_of('p'):
      end_sequence('A');
      break;
    case control_of('n'):
      end_sequence('B');
      break;
    default:
      break;
  }
  return LineEvent::kEdited;
}

LineEvent EditedLine::feed(char byte) {
  if (escape_ == Escape::kBegun) {
    escape_ = byte == '[' || byte == 'O' ? Escape::kSequence : Escape::kNone;
    parameters_.clear();
    return LineEvent::kEdited;
  }
  if (escape_ == Escape::kSequence) {
    const bool goes_on = (byte >= '0' && byte <= '9') || byte == ';';
    if (goes_on && parameters_.size() < 16) {
      parameters_ += byte;
    } else {
      end_sequence(byte);
    }
    return LineEvent::kEdited;
  }
  if (byte == kEscape) {
    escape_ = Escape::kBegun;
    return LineEvent::kEdited;
  }
  if (static_cast<unsigned char>(byte) < ' ' || byte == kDelete) return control(byte);
  insert({&byte, 1});
  return LineEvent::kEdited;
}

}  // namespace nodescope
