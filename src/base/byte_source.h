#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nodescope {

// Where bytes come from: a file, a pipe, a decompressor, memory.  Formats know only this.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // The next bytes in order; 0 at the end.  May give fewer than asked.
  virtual Result<std::size_t> read(std::span<std::byte> into) = 0;

  // Known for a regular file and for memory.  Only then read_at may be called.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }

  // Bytes at `offset`, independent of read() and safe from several threads; short only at the end.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into);

  // The whole content without a copy, where that is possible.  Borrowed: valid while the source lives.
  virtual std::optional<std::span<const std::byte>> mapped() { return std::nullopt; }

  // Nothing of the mapping will be needed for a while: its pages need not stay in memory.
  virtual void release_pages() {}

  // What to call it in messages: the path, "standard input".
  virtual std::string_view name() const = 0;
};

// Memory that somebody else keeps.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
  MemorySource(std::string_view text, std::string name)
      : MemorySource(std::as_bytes(std::span(text.data(), text.size())), std::move(name)) {}

  Result<std::size_t> read(std::span<std::byte> into) override;
  std::optional<std::uint64_t> size() const override { return bytes_.size(); }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override;
  std::optional<std::span<const std::byte>> mapped() override { return bytes_; }
  std::string_view name() const override { return name_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::string name_;
};

// Opens other files that an input refers to: binaries, symbol maps.  The implementation decides below which
// root they are looked up and whom it trusts.
class FileOpener {
 public:
  virtual ~FileOpener() = default;
  virtual Result<std::unique_ptr<ByteSource>> open(const std::string& path) = 0;
};

// The whole content, up to `limit` bytes: the mapping where there is one, else read into `storage`.
Result<std::span<const std::byte>> read_whole(ByteSource& source, std::string& storage, std::uint64_t limit);

// The same for an input that may have any size where it is mapped: the limit is for what is held in memory.
Result<std::span<const std::byte>> map_or_read_whole(ByteSource& source, std::string& storage,
                                                     std::uint64_t memory_limit);

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> as_byte_span(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace nodescope
