#include "binary/process_code.h"

#include <algorithm>

namespace nodescope {

namespace {

CodeRegion unknown_at(Address pc) {
  return {CodeKind::kUnknown, {pc, pc + 1}, nullptr, 0};
}

}  // namespace

CodeRegion ProcessCode::find(Address pc) {
  const MappedImage* mapped = space_.find(pc);
  if (mapped == nullptr) return unknown_at(pc);
  const Range<Address> range = space_.extent(pc);
  if (resolver_.is_generated(mapped->image)) return {CodeKind::kFramed, range, nullptr, 0};
  Image* image = resolver_.binary(mapped->image);
  if (image == nullptr) return {CodeKind::kNative, range, nullptr, 0};
  return image->region_at(pc, mapped->offset_of(pc), range);
}

std::span<const std::byte> ProcessCode::code(Range<Address> range) {
  const MappedImage* mapped = space_.find(range.begin);
  if (mapped == nullptr) return {};
  std::span<const std::byte> bytes = resolver_.generated_code(mapped->image, range.begin);
  if (const Image* image = resolver_.binary(mapped->image))
    bytes = image->content_at(mapped->offset_of(range.begin));
  return bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), range.size_bytes())));
}

}  // namespace nodescope
