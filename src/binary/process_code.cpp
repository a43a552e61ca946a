#include "binary/process_code.h"

#include <algorithm>

namespace nodescope {

namespace {

CodeRegion unknown_at(Address pc) {
  return {CodeKind::kUnknown, {pc, pc + 1}, nullptr, 0};
}

// The part of `range` on the side of `part` that `pc` is on: within it, below it or above it.
Range<Address> side_of(Range<Address> range, Range<Address> part, Address pc) {
  if (pc < part.begin) return {range.begin, std::min(range.end, part.begin)};
  if (pc >= part.end) return {std::max(range.begin, part.end), range.end};
  return {std::max(range.begin, part.begin), std::min(range.end, part.end)};
}

}  // namespace

CodeRegion ProcessCode::find(Address pc) {
  const MappedImage* mapped = space_.find(pc);
  if (mapped == nullptr) return unknown_at(pc);
  Range<Address> range = space_.extent(pc);
  if (resolver_.is_generated(mapped->image)) return {CodeKind::kFramed, range, nullptr, 0};
  const Resolver::Binary binary = resolver_.binary(mapped->image);
  if (binary.file == nullptr) return {CodeKind::kNative, range, nullptr, 0};
  if (binary.embedded_builtins) {
    const Address base = mapped->range.begin - mapped->offset.value;  // where the file's first byte would be
    const Range<Address> builtins{base + binary.embedded_builtins->begin.value,
                                  base + binary.embedded_builtins->end.value};
    range = side_of(range, builtins, pc);
    if (builtins.contains(pc)) return {CodeKind::kFramed, range, nullptr, 0};
  }
  const auto file_address = binary.file->to_address(mapped->offset_of(pc));
  if (!file_address) return unknown_at(pc);
  return {CodeKind::kNative, range, binary.unwind, pc.value - file_address->value};
}

std::span<const std::byte> ProcessCode::code(Range<Address> range) {
  const MappedImage* mapped = space_.find(range.begin);
  if (mapped == nullptr) return {};
  std::span<const std::byte> bytes = resolver_.generated_code(mapped->image, range.begin);
  if (!resolver_.is_generated(mapped->image)) {
    const Resolver::Binary binary = resolver_.binary(mapped->image);
    const auto address =
        binary.file != nullptr ? binary.file->to_address(mapped->offset_of(range.begin)) : std::nullopt;
    if (address) bytes = binary.file->content_at(*address);
  }
  return bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), range.size_bytes())));
}

}  // namespace nodescope
