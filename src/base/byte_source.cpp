#include "base/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace nodescope {

namespace {
constexpr std::size_t kReadStep = std::size_t{1} << 20;
}

Result<std::size_t> ByteSource::read_at(std::uint64_t, std::span<std::byte>) {
  return fail(ErrorCode::kUnsupported, fmt::format("{}: cannot be read at random", name()));
}

Result<std::size_t> MemorySource::read(std::span<std::byte> into) {
  const auto count = read_at(position_, into);
  position_ += count.value_or(0);
  return count;
}

Result<std::size_t> MemorySource::read_at(std::uint64_t offset, std::span<std::byte> into) {
  if (offset >= bytes_.size()) return 0;
  const std::size_t count = std::min(into.size(), bytes_.size() - static_cast<std::size_t>(offset));
  if (count != 0) std::memcpy(into.data(), bytes_.data() + offset, count);
  return count;
}

Result<std::span<const std::byte>> read_whole(ByteSource& source, std::string& storage, std::uint64_t limit) {
  const auto too_large = [&] {
    return fail(ErrorCode::kLimit, fmt::format("{}: larger than {} MB", source.name(), limit >> 20));
  };
  if (const auto mapped = source.mapped()) {
    if (mapped->size() > limit) return too_large();
    return *mapped;
  }
  // A file of /proc gives a page at a time, so room is made only when there is little left.
  std::size_t used = 0;
  for (;;) {
    if (storage.size() - used < kReadStep / 2) storage.resize(std::max(used + kReadStep, used * 3 / 2));
    const auto count = source.read(std::as_writable_bytes(std::span(storage).subspan(used)));
    if (!count) return std::unexpected(count.error());
    used += *count;
    if (used > limit) return too_large();
    if (*count != 0) continue;
    storage.resize(used);
    return as_byte_span(storage);
  }
}

Result<std::span<const std::byte>> map_or_read_whole(ByteSource& source, std::string& storage,
                                                     std::uint64_t memory_limit) {
  if (const auto mapped = source.mapped()) return *mapped;
  return read_whole(source, storage, memory_limit);
}

}  // namespace nodescope
