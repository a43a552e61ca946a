#include "v8/positions.h"

#include "base/byte_reader.h"
#include "base/byte_source.h"

namespace nodescope::v8 {

namespace {

std::int64_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// Entries lie ascending, so a distance that would leave 32 bits is damage.
std::optional<std::int64_t> code_distance(std::uint64_t packed, PositionEncoding encoding) {
  std::int64_t distance = 0;
  if (encoding == PositionEncoding::kFlags) {
    distance = static_cast<std::int64_t>(packed >> 2);
  } else {
    distance = from_zigzag(packed);
    if (distance < 0) distance = -(distance + 1);
  }
  if (distance > INT32_MAX) return std::nullopt;
  return distance;
}

// Prefix bytecodes scale the operands of the next one: Wide and DebugBreakWide to two bytes, ExtraWide and
// DebugBreakExtraWide to four.
std::size_t operand_scale(std::uint8_t bytecode) {
  if (bytecode == 0 || bytecode == 2) return 1;
  return bytecode == 1 || bytecode == 3 ? 2 : 0;
}

// The size of the bytecode at `offset` with its prefix; 0: not a bytecode.
std::size_t size_at(std::string_view bytecodes, std::size_t offset, std::string_view sizes) {
  const std::size_t count = sizes.size() / 3;
  const std::size_t scale = operand_scale(static_cast<std::uint8_t>(bytecodes[offset]));
  const std::size_t prefix = scale == 0 ? 0 : 1;
  if (offset + prefix >= bytecodes.size()) return 0;
  const auto bytecode = static_cast<std::uint8_t>(bytecodes[offset + prefix]);
  return bytecode < count ? prefix + static_cast<std::uint8_t>(sizes[scale * count + bytecode]) : 0;
}

}  // namespace

PositionEncoding position_encoding(const Version& version) {
  return version >= Version{13, 7, 0} ? PositionEncoding::kFlags : PositionEncoding::kSigned;
}

std::optional<SourcePosition> find_position(std::string_view table, std::int64_t code_offset,
                                            PositionEncoding encoding) {
  ByteReader reader(as_byte_span(table));
  std::optional<SourcePosition> best;
  std::int64_t code = -1;
  std::uint64_t position = 0;
  while (reader.remaining() > 0) {
    const auto packed_distance = reader.read_varint();
    const auto packed_position = reader.read_varint();
    if (!packed_distance || !packed_position) break;
    const auto distance = code_distance(*packed_distance, encoding);
    if (!distance) break;
    code += *distance;
    if (code > code_offset) break;
    position += static_cast<std::uint64_t>(from_zigzag(*packed_position));
    best = SourcePosition{static_cast<std::int64_t>(position)};
  }
  return best;
}

std::optional<std::int32_t> find_baseline_bytecode(std::string_view table, std::int64_t code_offset,
                                                   std::string_view bytecodes, std::string_view sizes) {
  ByteReader reader(as_byte_span(table));
  const auto prologue = reader.read_varint();
  if (!prologue || *prologue > INT32_MAX) return std::nullopt;
  auto code_end = static_cast<std::int64_t>(*prologue);
  if (code_end >= code_offset) return 0;
  std::size_t offset = 0;
  while (offset < bytecodes.size()) {
    const auto length = reader.read_varint();
    if (!length || *length > INT32_MAX) return std::nullopt;
    code_end += static_cast<std::int64_t>(*length);
    if (code_end >= code_offset) return static_cast<std::int32_t>(offset);
    const std::size_t size = size_at(bytecodes, offset, sizes);
    if (size == 0) return std::nullopt;
    offset += size;
  }
  return std::nullopt;
}

}  // namespace nodescope::v8
