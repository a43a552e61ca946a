#include "binary/image.h"

#include <algorithm>

#include "binary/embedded_builtins.h"

namespace nodescope {

namespace {

// The part of `range` on the side of `part` that `pc` is on: within it, below it or above it.
Range<Address> side_of(Range<Address> range, Range<Address> part, Address pc) {
  if (pc < part.begin) return {range.begin, std::min(range.end, part.begin)};
  if (pc >= part.end) return {std::max(range.begin, part.end), range.end};
  return {std::max(range.begin, part.begin), std::min(range.end, part.end)};
}

}  // namespace

const UnwindTable& Image::unwind() {
  if (!unwind_) unwind_ = UnwindTable::build(file());
  return *unwind_;
}

const SymbolTable& Image::symbols() {
  if (!symbols_) symbols_ = SymbolTable::build(file(), debug_ ? &debug_->file() : nullptr);
  return *symbols_;
}

const std::optional<Range<FileOffset>>& Image::embedded_builtins() {
  if (builtins_) return *builtins_;
  builtins_.emplace();
  if (const auto found = find_embedded_builtins(file())) {
    if (const auto begin = file().to_offset(found->begin))
      *builtins_ = Range<FileOffset>{*begin, *begin + found->size_bytes()};
  }
  return *builtins_;
}

void Image::prepare() {
  unwind();
  embedded_builtins();
  elf_.release_pages();
  symbols();
  elf_.release_pages();
  if (debug_) debug_->release_pages();
}

std::optional<FileAddress> Image::address_of(FileOffset offset) const {
  if (const auto address = file().to_address(offset)) return address;
  if (!file().loads().empty()) return std::nullopt;
  for (std::size_t i = 0; i < file().section_count(); ++i) {
    const auto section = file().section(i);
    if (!section || !section->executable()) continue;
    const std::uint64_t inside = offset - section->offset;
    if (offset >= section->offset && inside < section->size_bytes) return section->address + inside;
  }
  return std::nullopt;
}

std::optional<Symbol> Image::symbol_at(FileOffset offset) {
  const auto address = address_of(offset);
  return address ? symbols().find(*address) : std::nullopt;
}

CodeRegion Image::region_at(Address pc, FileOffset offset, Range<Address> range) {
  if (const auto& builtins = embedded_builtins()) {
    const Address base = pc - offset.value;  // where the file's first byte would be
    const Range<Address> here{base + builtins->begin.value, base + builtins->end.value};
    range = side_of(range, here, pc);
    if (here.contains(pc)) return {CodeKind::kFramed, range, nullptr, 0};
  }
  const auto address = file().to_address(offset);
  if (!address) return {CodeKind::kUnknown, {pc, pc + 1}, nullptr, 0};
  return {CodeKind::kNative, range, &unwind(), pc.value - address->value};
}

std::span<const std::byte> Image::content_at(FileOffset offset) const {
  const auto address = file().to_address(offset);
  return address ? file().content_at(*address) : std::span<const std::byte>();
}

}  // namespace nodescope
