#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"

namespace nodescope {

// Pages of our own for a copy of another process's memory.
class CopyBuffer {
 public:
  CopyBuffer() = default;
  // All of it is there at once: no page is made while the other process waits.
  static Result<CopyBuffer> allocate(std::size_t bytes);
  CopyBuffer(CopyBuffer&& other) noexcept;
  CopyBuffer& operator=(CopyBuffer&& other) noexcept;
  ~CopyBuffer();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace nodescope
