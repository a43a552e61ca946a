#include "binary/eh_frame.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/byte_reader.h"
#include "binary/eh_frame_rules.h"

namespace nodescope {

namespace {

constexpr std::size_t kSearchEntryBytes = 8;

// datarel | sdata4: the only encoding of the search table that linkers write.
constexpr std::uint8_t kSearchTableEncoding = 0x3B;

std::int32_t load_i32(std::span<const std::byte> bytes, std::size_t offset) {
  std::int32_t value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

// Rules keep places in the section as 32-bit numbers.
constexpr std::size_t kMaxSectionBytes = std::numeric_limits<std::int32_t>::max();

}  // namespace

UnwindTable UnwindTable::build(const ElfFile& binary) {
  UnwindTable table;
  if (binary.machine() != Machine::kX86_64) return table;
  if (const auto section = binary.find_section(".eh_frame")) {
    table.section_ = {binary.content(*section), section->address};
  }
  const bool has_header = table.use_header(binary);
  if (table.section_.bytes.size() > kMaxSectionBytes)
    table.section_.bytes = table.section_.bytes.first(kMaxSectionBytes);
  if (!has_header) table.build_index();
  return table;
}

// PT_GNU_EH_FRAME is .eh_frame_hdr, and it survives where section headers do not.
bool UnwindTable::use_header(const ElfFile& binary) {
  const auto header = binary.find_segment(PT_GNU_EH_FRAME);
  if (!header) return false;
  const auto bytes = binary.content(*header);
  ByteReader reader(bytes);
  const auto version = reader.read<std::uint8_t>();
  const auto section_encoding = reader.read<std::uint8_t>();
  const auto count_encoding = reader.read<std::uint8_t>();
  const auto table_encoding = reader.read<std::uint8_t>();
  if (!table_encoding || *version != 1) return false;
  const auto section = read_encoded_pointer(reader, *section_encoding, header->address, header->address);
  if (!section) return false;
  if (section_.bytes.empty()) section_ = {binary.content_at(*section), *section};
  const auto count = read_encoded_pointer(reader, *count_encoding, header->address, header->address);
  if (!count || *table_encoding != kSearchTableEncoding || section_.address != *section) return false;
  const auto rest = bytes.subspan(reader.offset());
  const std::uint64_t entries = std::min<std::uint64_t>(count->value, rest.size() / kSearchEntryBytes);
  search_table_ = rest.first(static_cast<std::size_t>(entries) * kSearchEntryBytes);
  search_table_base_ = header->address;
  return !search_table_.empty();
}

void UnwindTable::build_index() {
  std::optional<std::uint64_t> offset = 0;
  while (offset) {
    if (const auto function = parse_eh_frame_function(section_, *offset)) {
      index_.push_back({function->range.begin.value, *offset});
    }
    offset = next_eh_frame_entry(section_, *offset);
  }
  std::ranges::sort(index_);
}

std::size_t UnwindTable::size() const {
  return search_table_.empty() ? index_.size() : search_table_.size() / kSearchEntryBytes;
}

UnwindTable::IndexEntry UnwindTable::index_entry(std::size_t position) const {
  if (search_table_.empty()) return index_[position];
  const auto distance = [&](std::size_t offset) {
    return static_cast<std::uint64_t>(
        std::int64_t{load_i32(search_table_, position * kSearchEntryBytes + offset)});
  };
  return {(search_table_base_ + distance(0)).value, search_table_base_ + distance(4) - section_.address};
}

std::optional<EhFrameFunction> UnwindTable::find_entry(FileAddress pc) const {
  // The last function that begins at or before pc.  A table that is not sorted leads to a function that does
  // not hold pc, and that is seen.
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (index_entry(middle).function <= pc.value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  auto found = parse_eh_frame_function(section_, index_entry(low - 1).offset);
  if (!found || !found->range.contains(pc)) return std::nullopt;
  return found;
}

std::optional<UnwindRow> UnwindTable::find(FileAddress pc) const {
  const auto function = find_entry(pc);
  return function ? interpret_eh_frame(section_, *function, pc) : std::nullopt;
}

std::optional<Range<FileAddress>> UnwindTable::find_function(FileAddress pc) const {
  const auto function = find_entry(pc);
  return function ? std::optional(function->range) : std::nullopt;
}

std::optional<Range<FileAddress>> UnwindTable::function(std::size_t index) const {
  if (index >= size()) return std::nullopt;
  const auto function = parse_eh_frame_function(section_, index_entry(index).offset);
  return function ? std::optional(function->range) : std::nullopt;
}

std::span<const std::byte> UnwindTable::expression(std::int32_t offset) const {
  if (offset < 0 || static_cast<std::size_t>(offset) >= section_.bytes.size()) return {};
  ByteReader reader(section_.bytes.subspan(static_cast<std::size_t>(offset)));
  const auto size = reader.read_varint();
  return size ? reader.take(*size).value_or(std::span<const std::byte>{}) : std::span<const std::byte>{};
}

}  // namespace nodescope
