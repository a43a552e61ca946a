#include "formats/heapsnapshot/text_window.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace nodescope {

TextWindow::TextWindow(ByteSource& source, Progress* progress) : source_(source), progress_(progress) {
  if (const auto bytes = source.mapped()) {
    mapped_ = true;
    unseen_ = as_text(*bytes);
    view_ = unseen_.substr(0, 0);
  }
}

bool TextWindow::more() {
  if (progress_ != nullptr) progress_->done_bytes = offset_;
  if (mapped_) {
    const std::size_t count = std::min(kBlockBytes, unseen_.size());
    view_ = {view_.data(), view_.size() + count};
    unseen_.remove_prefix(count);
    if (offset_ - released_ >= kReleaseBytes) {
      source_.release_pages();
      released_ = offset_;
    }
    return count != 0;
  }
  if (ended_) return false;
  const std::size_t kept = view_.size();
  const std::size_t room = std::max(kBlockBytes, kept);
  std::shared_ptr<char[]> block(new char[kept + room]);
  if (kept != 0) std::memcpy(block.get(), view_.data(), kept);
  std::size_t filled = 0;
  while (filled < room) {
    const auto count =
        source_.read(std::as_writable_bytes(std::span(block.get() + kept + filled, room - filled)));
    if (!count) status_ = std::unexpected(count.error());
    if (!count || *count == 0) {
      ended_ = true;
      break;
    }
    filled += *count;
  }
  block_ = std::move(block);
  view_ = {block_.get(), kept + filled};
  return filled != 0;
}

void TextWindow::fill() {
  while (view_.size() < kBlockBytes / 2 && more()) {
  }
}

char TextWindow::peek() {
  while (true) {
    const std::size_t at = view_.find_first_not_of(" \t\r\n");
    if (at != std::string_view::npos) {
      consume(at);
      return view_.front();
    }
    consume(view_.size());
    if (!more()) return '\0';
  }
}

bool TextWindow::take(char expected) {
  if (peek() != expected || view_.empty()) return false;
  consume(1);
  return true;
}

}  // namespace nodescope
