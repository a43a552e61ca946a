#include "os/copy_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nodescope {

Result<CopyBuffer> CopyBuffer::allocate(std::size_t bytes) {
  void* memory = ::mmap(nullptr, std::max<std::size_t>(bytes, 1), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED)
    return fail(ErrorCode::kSystem,
                fmt::format("no memory for a copy of {} MB: {}", bytes >> 20, std::strerror(errno)));
  CopyBuffer buffer;
  buffer.bytes_ = {static_cast<std::byte*>(memory), bytes};
  return buffer;
}

CopyBuffer::CopyBuffer(CopyBuffer&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

CopyBuffer& CopyBuffer::operator=(CopyBuffer&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

CopyBuffer::~CopyBuffer() {
  if (bytes_.data() != nullptr) ::munmap(bytes_.data(), std::max<std::size_t>(bytes_.size(), 1));
}

}  // namespace nodescope
