#include "formats/read_ahead.h"

#include <algorithm>
#include <cstring>

namespace nodescope {

ReadAhead::ReadAhead(ByteSource& source) : source_(source), thread_([this] { run(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReadAhead::run() {
  for (;;) {
    Block& block = blocks_[written_ % kBlocks];
    block.bytes.resize(kBlockBytes);
    block.size = fill(block.bytes);
    const bool is_last = !block.size || *block.size == 0;
    std::unique_lock lock(mutex_);
    ++written_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return stopped_ || written_ - consumed_ < kBlocks; });
    if (stopped_ || is_last) return;
  }
}

Result<std::size_t> ReadAhead::fill(std::span<std::byte> bytes) {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const auto count = source_.read(bytes.subspan(filled));
    if (!count) return count;
    if (*count == 0) break;
    filled += *count;
  }
  return filled;
}

Result<std::size_t> ReadAhead::read(std::span<std::byte> into) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return written_ != consumed_; });
  }
  const Block& block = blocks_[consumed_ % kBlocks];
  if (!block.size || *block.size == 0) return block.size;
  const std::size_t count = std::min(into.size(), *block.size - position_);
  if (count != 0) std::memcpy(into.data(), block.bytes.data() + position_, count);
  position_ += count;
  if (position_ == *block.size) {
    position_ = 0;
    const std::lock_guard lock(mutex_);
    ++consumed_;
    changed_.notify_all();
  }
  return count;
}

}  // namespace nodescope
