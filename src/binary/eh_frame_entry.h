#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/byte_reader.h"
#include "binary/address.h"

namespace nodescope {

// The bytes of .eh_frame and where they are in the binary.
struct EhFrameSection {
  std::span<const std::byte> bytes;
  FileAddress address;
};

// CIE: what several functions have in common.
struct EhFrameCommon {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint64_t return_register = 0;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool signal_frame = false;
  std::span<const std::byte> instructions;
};

// FDE: one function.
struct EhFrameFunction {
  EhFrameCommon common;
  Range<FileAddress> range;
  std::span<const std::byte> instructions;
};

// The FDE at this offset of the section; nothing for a CIE, or for anything that makes no sense.
std::optional<EhFrameFunction> parse_eh_frame_function(const EhFrameSection& section, std::uint64_t offset);

// Where the entry after this one begins; nothing at the end, or where the list is broken.
std::optional<std::uint64_t> next_eh_frame_entry(const EhFrameSection& section, std::uint64_t offset);

// A pointer of .eh_frame or .eh_frame_hdr, in one of the DW_EH_PE encodings that a file can have; `base` is
// the address of the first byte of `reader`, `data_base` that of .eh_frame_hdr.
std::optional<FileAddress> read_encoded_pointer(ByteReader& reader, std::uint8_t encoding, FileAddress base,
                                                FileAddress data_base);

std::optional<std::int64_t> read_signed_varint(ByteReader& reader);

}  // namespace nodescope
