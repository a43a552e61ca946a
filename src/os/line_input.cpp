#include "os/line_input.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/edited_line.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

constexpr std::size_t kMaxHistory = 1000;

std::optional<char> read_byte() {
  for (;;) {
    char byte = 0;
    const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
    if (count == 1) return byte;
    if (count == 0 || errno != EINTR) return std::nullopt;
  }
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80; }));
}

void show(std::string_view prompt, const EditedLine& line) {
  const std::size_t behind = characters(std::string_view(line.text()).substr(line.cursor()));
  std::string text = "\r";
  text += prompt;
  text += line.text();
  text += "\033[K";
  if (behind != 0) text += "\033[" + std::to_string(behind) + "D";
  write_to_terminal(text);
}

// The longest beginning that all have.
std::string common_beginning(const std::vector<std::string>& words) {
  std::string common = words.front();
  for (const std::string& word : words) {
    const auto [end, unused] = std::ranges::mismatch(common, word);
    common.erase(end, common.end());
  }
  return common;
}

void complete(EditedLine& line, const LineInput::Complete& candidates_of) {
  const std::string_view typed = std::string_view(line.text()).substr(0, line.cursor());
  const std::string_view word = typed.substr(typed.rfind(' ') + 1);
  std::vector<std::string> candidates = candidates_of(typed);
  std::erase_if(candidates, [&](const std::string& candidate) { return !candidate.starts_with(word); });
  if (candidates.empty()) return;
  const std::string common = common_beginning(candidates);
  if (common.size() > word.size() || candidates.size() == 1) {
    line.insert(common.substr(word.size()) + (candidates.size() == 1 ? " " : ""));
    return;
  }
  std::string list = "\r\n";
  for (const std::string& candidate : candidates) list += candidate + "  ";
  write_to_terminal(list + "\r\n");
}

}  // namespace

std::optional<std::string> LineInput::read() {
  return standard_input_is_terminal() && standard_output_is_terminal() ? read_typed() : read_plain();
}

std::optional<std::string> LineInput::read_typed() {
  const TypedKeys keys;
  EditedLine line(history_);
  for (;;) {
    show(prompt_, line);
    const auto byte = read_byte();
    if (!byte) return std::nullopt;
    switch (line.feed(*byte)) {
      case LineEvent::kEdited:
        break;
      case LineEvent::kComplete:
        complete(line, complete_);
        break;
      case LineEvent::kCancelled:
        write_to_terminal("\r\n");
        return std::string();
      case LineEvent::kEnd:
        write_to_terminal("\r\n");
        return std::nullopt;
      case LineEvent::kDone:
        write_to_terminal("\r\n");
        if (!line.text().empty() && (history_.empty() || history_.back() != line.text()))
          history_.push_back(line.text());
        if (history_.size() > kMaxHistory) history_.erase(history_.begin());
        return line.text();
    }
  }
}

std::optional<std::string> LineInput::read_plain() {
  std::string line;
  for (;;) {
    const auto byte = read_byte();
    if (!byte) return line.empty() ? std::nullopt : std::optional(line);
    if (*byte == '\n') return line;
    if (line.size() < EditedLine::kMaxBytes) line += *byte;
  }
}

}  // namespace nodescope
