#include "binary/eh_frame_entry.h"

#include <algorithm>
#include <string_view>

namespace nodescope {

namespace {

// DW_EH_PE_*: the low four bits say how the value is stored, the next three what it counts from.
constexpr std::uint8_t kOmitted = 0xFF;
constexpr std::uint8_t kIndirect = 0x80;
constexpr std::uint8_t kRelativeToPc = 0x10;
constexpr std::uint8_t kRelativeToData = 0x30;

std::optional<std::uint64_t> read_stored_value(ByteReader& reader, std::uint8_t encoding) {
  const auto widen = [](auto value) -> std::optional<std::uint64_t> {
    if (!value) return std::nullopt;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(*value));
  };
  switch (encoding & 0x0F) {
    case 0x00:
    case 0x04:
    case 0x0C:
      return reader.read<std::uint64_t>();
    case 0x01:
      return reader.read_varint();
    case 0x02:
      return reader.read<std::uint16_t>();
    case 0x03:
      return reader.read<std::uint32_t>();
    case 0x09:
      return widen(read_signed_varint(reader));
    case 0x0A:
      return widen(reader.read<std::int16_t>());
    case 0x0B:
      return widen(reader.read<std::int32_t>());
    default:
      return std::nullopt;
  }
}

// The largest functions of large programs have some kilobytes of instructions, and an augmentation has five
// letters. Bounded because every look-up reads the entry again.
constexpr std::size_t kMaxEntryBytes = std::size_t{64} * 1024;
constexpr std::size_t kMaxLetters = 16;

// The head of an entry: its content, and the distance back to its CIE (0: it is one).
struct Entry {
  std::span<const std::byte> content;  // behind the CIE distance
  std::uint64_t content_offset = 0;    // in the section
  std::uint64_t distance_offset = 0;
  std::uint32_t distance = 0;
};

std::optional<Entry> parse_entry(const EhFrameSection& section, std::uint64_t offset) {
  if (offset >= section.bytes.size()) return std::nullopt;
  ByteReader reader(section.bytes.subspan(static_cast<std::size_t>(offset)));
  const auto short_length = reader.read<std::uint32_t>();
  if (!short_length) return std::nullopt;
  const std::uint64_t length =
      *short_length == 0xFFFFFFFFu ? reader.read<std::uint64_t>().value_or(0) : *short_length;
  if (length < sizeof(std::uint32_t)) return std::nullopt;
  const std::uint64_t distance_offset = offset + reader.offset();
  const auto content = reader.take(length);
  if (!content) return std::nullopt;
  ByteReader content_reader(*content);
  const auto distance = content_reader.read<std::uint32_t>();
  return Entry{content->subspan(sizeof(std::uint32_t)), distance_offset + sizeof(std::uint32_t),
               distance_offset, *distance};
}

struct Augmentation {
  bool has_data = false;
  std::uint8_t pointer_encoding = 0;
  bool signal_frame = false;
};

// What the letters behind 'z' mean, whose data `reader` holds.
std::optional<Augmentation> parse_augmentation_data(std::string_view letters, ByteReader reader) {
  Augmentation result{.has_data = true};
  for (const char letter : letters) {
    if (letter == 'S') {
      result.signal_frame = true;
      continue;
    }
    if (letter != 'R' && letter != 'P' && letter != 'L') break;  // 'B' and what comes: nothing that we need
    const auto encoding = reader.read<std::uint8_t>();
    if (!encoding) return std::nullopt;
    if (letter == 'R') result.pointer_encoding = *encoding;
    // The personality routine is not needed, but its size.
    if (letter == 'P' && !read_stored_value(reader, *encoding)) return std::nullopt;
  }
  return result;
}

// 'z' is first: then the data have a length.  The older forms are not in use on x86-64.
std::optional<Augmentation> parse_augmentation(std::string_view letters, ByteReader& reader) {
  if (letters.empty()) return Augmentation{};
  if (letters.front() != 'z') return std::nullopt;
  const auto size = reader.read_varint();
  const auto data = size ? reader.take(*size) : std::nullopt;
  return data ? parse_augmentation_data(letters.substr(1), ByteReader(*data)) : std::nullopt;
}

std::optional<EhFrameCommon> parse_common(const EhFrameSection& section, std::uint64_t offset) {
  const auto entry = parse_entry(section, offset);
  if (!entry || entry->distance != 0 || entry->content.size() > kMaxEntryBytes) return std::nullopt;
  ByteReader reader(entry->content);
  const auto version = reader.read<std::uint8_t>();
  if (!version || (*version != 1 && *version != 3)) return std::nullopt;
  const std::string_view text = as_text(entry->content.subspan(1)).substr(0, kMaxLetters + 1);
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos || !reader.take(end + 1)) return std::nullopt;
  const auto code_alignment = reader.read_varint();
  const auto data_alignment = read_signed_varint(reader);
  const auto return_register =
      *version == 1 ? std::optional<std::uint64_t>(reader.read<std::uint8_t>()) : reader.read_varint();
  if (!code_alignment || !data_alignment || !return_register) return std::nullopt;
  const auto augmentation = parse_augmentation(text.substr(0, end), reader);
  if (!augmentation) return std::nullopt;
  return EhFrameCommon{*code_alignment,
                       *data_alignment,
                       *return_register,
                       augmentation->pointer_encoding,
                       augmentation->has_data,
                       augmentation->signal_frame,
                       entry->content.subspan(reader.offset())};
}

}  // namespace

std::optional<std::int64_t> read_signed_varint(ByteReader& reader) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    const auto byte = reader.read<std::uint8_t>();
    if (!byte) return std::nullopt;
    if (shift < 64) value |= std::uint64_t{*byte & 0x7Fu} << shift;
    if ((*byte & 0x80u) != 0) continue;
    if ((*byte & 0x40u) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
    return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

std::optional<FileAddress> read_encoded_pointer(ByteReader& reader, std::uint8_t encoding, FileAddress base,
                                                FileAddress data_base) {
  // Indirect pointers lead to memory of a running process; only personality routines have them.
  if (encoding == kOmitted || (encoding & kIndirect) != 0) return std::nullopt;
  const FileAddress here = base + reader.offset();
  const auto value = read_stored_value(reader, encoding);
  if (!value) return std::nullopt;
  switch (encoding & 0x70) {
    case 0:
      return FileAddress{*value};
    case kRelativeToPc:
      return here + *value;
    case kRelativeToData:
      return data_base + *value;
    default:
      return std::nullopt;
  }
}

std::optional<EhFrameFunction> parse_eh_frame_function(const EhFrameSection& section, std::uint64_t offset) {
  const auto entry = parse_entry(section, offset);
  if (!entry || entry->distance == 0 || entry->distance > entry->distance_offset) return std::nullopt;
  if (entry->content.size() > kMaxEntryBytes) return std::nullopt;
  const auto common = parse_common(section, entry->distance_offset - entry->distance);
  if (!common) return std::nullopt;
  ByteReader reader(entry->content);
  const FileAddress base = section.address + entry->content_offset;
  const auto begin = read_encoded_pointer(reader, common->pointer_encoding, base, FileAddress{});
  const auto size = begin ? read_stored_value(reader, common->pointer_encoding) : std::nullopt;
  if (!size) return std::nullopt;
  if (common->has_augmentation_data) {
    const auto augmentation = reader.read_varint();
    if (!augmentation || !reader.take(*augmentation)) return std::nullopt;
  }
  return EhFrameFunction{*common, {*begin, *begin + *size}, entry->content.subspan(reader.offset())};
}

std::optional<std::uint64_t> next_eh_frame_entry(const EhFrameSection& section, std::uint64_t offset) {
  const auto entry = parse_entry(section, offset);
  if (!entry) return std::nullopt;
  return entry->content_offset + entry->content.size();
}

}  // namespace nodescope
