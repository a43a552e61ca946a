#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/byte_source.h"
#include "base/progress.h"
#include "base/result.h"

namespace nodescope {

// A text as a window that moves over it and grows where what it shows is not enough.  Of a mapped file it is
// a part of the mapping, otherwise a block that was read.
class TextWindow {
 public:
  explicit TextWindow(ByteSource& source, Progress* progress = nullptr);

  // What is here and not consumed yet.
  std::string_view view() const { return view_; }
  void consume(std::size_t bytes) {
    view_.remove_prefix(bytes);
    offset_ += bytes;
  }
  // Shows more behind what is here; false at the end of the text, and after a failure of the source.
  bool more();
  // At least so much of the text as makes an efficient piece of work, unless it ends before.
  void fill();

  // The next character behind white space, which is consumed; NUL at the end.
  char peek();
  bool take(char expected);

  // Keeps what view() shows now in memory while it lives.
  std::shared_ptr<const char[]> owner() const { return block_; }

  std::uint64_t offset() const { return offset_; }
  const Result<void>& status() const { return status_; }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{2} * 1024 * 1024;
  static constexpr std::size_t kReleaseBytes = std::size_t{64} * 1024 * 1024;

  ByteSource& source_;
  Progress* progress_;
  std::string_view view_;
  std::string_view unseen_;  // of a mapping: behind the view
  std::shared_ptr<char[]> block_;
  std::uint64_t offset_ = 0;
  std::uint64_t released_ = 0;  // the offset at which pages were last given back
  bool mapped_ = false;
  bool ended_ = false;
  Result<void> status_;
};

}  // namespace nodescope
