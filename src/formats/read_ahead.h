#pragma once

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/byte_source.h"

namespace nodescope {

// Reads another source on a thread of its own, a little ahead of whoever reads this.  So a pipe is drained,
// or a file decompressed, while what has arrived is parsed.
class ReadAhead final : public ByteSource {
 public:
  explicit ReadAhead(ByteSource& source);
  ~ReadAhead() override;
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  Result<std::size_t> read(std::span<std::byte> into) override;
  std::string_view name() const override { return source_.name(); }

 private:
  static constexpr std::size_t kBlocks = 4;
  static constexpr std::size_t kBlockBytes = 256 * 1024;

  struct Block {
    std::vector<std::byte> bytes;
    Result<std::size_t> size = 0;  // 0: the end
  };

  void run();
  Result<std::size_t> fill(std::span<std::byte> bytes);

  ByteSource& source_;
  std::array<Block, kBlocks> blocks_;
  std::size_t written_ = 0;   // blocks, ever
  std::size_t consumed_ = 0;  // blocks, ever
  std::size_t position_ = 0;  // in the block that is being consumed
  bool stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace nodescope
