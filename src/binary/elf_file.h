#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "binary/address.h"
#include "binary/build_id.h"

namespace nodescope {

enum class Machine : std::uint8_t { kX86_64, kAarch64 };

enum class ElfType : std::uint8_t { kOther, kRelocatable, kExecutable, kShared, kCore };

struct ElfSegment {
  std::uint32_t type = 0;   // PT_*
  std::uint32_t flags = 0;  // PF_*
  FileOffset offset;
  FileAddress address;
  std::uint64_t file_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t alignment = 0;

  bool executable() const { return (flags & 1) != 0; }
  Range<FileAddress> in_memory() const { return {address, address + memory_bytes}; }
  Range<FileOffset> in_file() const { return {offset, offset + file_bytes}; }
};

struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;   // SHT_*
  std::uint64_t flags = 0;  // SHF_*
  FileAddress address;
  FileOffset offset;
  std::uint64_t size_bytes = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_bytes = 0;
  std::uint64_t alignment = 0;

  bool allocated() const { return (flags & 2) != 0; }
  bool executable() const { return (flags & 4) != 0; }
  Range<FileAddress> in_memory() const { return {address, address + size_bytes}; }
};

// One entry of .symtab or .dynsym, as it is in the file.
struct ElfSymbol {
  std::uint32_t name = 0;  // offset in the string table
  std::uint8_t info = 0;
  std::uint8_t other = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size_bytes = 0;

  std::uint8_t type() const { return info & 0xF; }       // STT_*
  std::uint8_t binding() const { return info >> 4; }     // STB_*
  std::uint8_t visibility() const { return other & 3; }  // STV_*
};

// A symbol table and its names: both cut to what is in the file.
class ElfSymbols {
 public:
  // Mangled names of template code reach some 20 KB.  Longer ones are cut.
  static constexpr std::size_t kMaxNameBytes = std::size_t{64} * 1024;

  ElfSymbols() = default;
  ElfSymbols(std::span<const std::byte> entries, std::string_view names) : entries_(entries), names_(names) {}

  std::size_t size() const;
  bool empty() const { return size() == 0; }
  ElfSymbol operator[](std::size_t index) const;  // index < size()

  // Empty when the offset is outside of the names.
  std::string_view name_at(std::uint32_t offset) const;
  std::string_view name(const ElfSymbol& symbol) const { return name_at(symbol.name); }

  // The first defined symbol of this name.  Looks at all of them.
  std::optional<ElfSymbol> find(std::string_view name) const;

 private:
  std::span<const std::byte> entries_;
  std::string_view names_;
};

struct DebugLink {
  std::string_view file_name;
  std::uint32_t crc = 0;  // CRC-32 of the whole file that it names
};

// A bounds-checked view of an ELF file.  It borrows from the bytes and allocates nothing but a list of at
// most kMaxLoads segments: the file may be a hostile one that we read as root.  Sizes and offsets in it that
// lead out of the file are cut at its end, so what is given out can always be read.
class ElfFile {
 public:
  static constexpr std::size_t kMaxLoads = 256;

  // 64-bit little-endian x86-64 and aarch64; anything else is an error that says what it is.
  static Result<ElfFile> parse(std::span<const std::byte> bytes);

  Machine machine() const { return machine_; }
  ElfType type() const { return type_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  std::size_t section_count() const { return section_count_; }
  std::optional<ElfSection> section(std::size_t index) const;
  std::optional<ElfSection> find_section(std::string_view name) const;

  std::size_t segment_count() const { return segment_count_; }
  std::optional<ElfSegment> segment(std::size_t index) const;
  std::optional<ElfSegment> find_segment(std::uint32_t type) const;
  std::span<const ElfSegment> loads() const { return loads_; }  // PT_LOAD, in the file's order

  // Empty for sections without content in the file (.bss; every code section of a separate debug file).
  std::span<const std::byte> content(const ElfSection& section) const;
  std::span<const std::byte> content(const ElfSegment& segment) const;
  // From `address` to the end of what its segment has in the file; empty when no segment holds it.
  std::span<const std::byte> content_at(FileAddress address) const;

  // Between the two ways to name a byte of a PT_LOAD segment.  For a byte that was mapped from the file at
  // two places (V8 maps its embedded builtins a second time) the offset is the only way back.
  std::optional<FileAddress> to_address(FileOffset offset) const;
  std::optional<FileOffset> to_offset(FileAddress address) const;

  // Empty when absent.  The dynamic symbols are found without section headers too.
  ElfSymbols symtab() const;
  ElfSymbols dynsym() const;

  std::optional<BuildId> build_id() const;
  std::optional<DebugLink> debug_link() const;

 private:
  explicit ElfFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  std::optional<T> load(std::uint64_t offset) const;
  std::span<const std::byte> slice(FileOffset offset, std::uint64_t size_bytes) const;
  void find_tables();
  std::optional<ElfSection> find_section_of_type(std::uint32_t type) const;
  ElfSymbols symbols_of(const ElfSection& section) const;
  ElfSymbols dynsym_by_segment() const;
  std::optional<std::uint64_t> dynamic_entry(std::int64_t tag) const;

  std::span<const std::byte> bytes_;
  Machine machine_ = Machine::kX86_64;
  ElfType type_ = ElfType::kOther;
  std::uint64_t section_table_ = 0;
  std::uint64_t segment_table_ = 0;
  std::size_t section_count_ = 0;
  std::size_t segment_count_ = 0;
  std::string_view section_names_;
  std::vector<ElfSegment> loads_;
};

// An ELF file together with what keeps its bytes.
class OwnedElf {
 public:
  static Result<OwnedElf> read(std::unique_ptr<ByteSource> source);

  const ElfFile& file() const { return file_; }
  std::string_view name() const { return source_->name(); }
  void release_pages() { source_->release_pages(); }

 private:
  OwnedElf(std::unique_ptr<ByteSource> source, std::unique_ptr<std::string> storage, ElfFile file)
      : source_(std::move(source)), storage_(std::move(storage)), file_(std::move(file)) {}

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<std::string> storage_;  // of a source that cannot be mapped
  ElfFile file_;
};

}  // namespace nodescope
