#include "binary/elf_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/byte_reader.h"
#include "base/check.h"

namespace nodescope {

namespace {

// A core of a large process has more than 10 GB, a binary with debug information 5 GB: this is a bound for a
// source that has to be read into memory, not for one that is mapped.
constexpr std::uint64_t kMaxElfBytes = std::uint64_t{16} << 30;

ElfType type_of(std::uint16_t number) {
  switch (number) {
    case ET_REL:
      return ElfType::kRelocatable;
    case ET_EXEC:
      return ElfType::kExecutable;
    case ET_DYN:
      return ElfType::kShared;
    case ET_CORE:
      return ElfType::kCore;
    default:
      return ElfType::kOther;
  }
}

// At most `limit` bytes are looked at: with overlapping strings the cost of a hostile table would be
// quadratic.
std::string_view c_string_at(std::string_view table, std::uint64_t offset, std::size_t limit) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(static_cast<std::size_t>(offset), limit);
  return rest.substr(0, rest.find('\0'));
}

// Longer than any name that a linker script gives.
constexpr std::size_t kMaxSectionNameBytes = 256;

// A build id is in the first note list, or in one of a few.  Bounded because lists may overlap: 100,000
// sections that all cover the whole file would take hours.
constexpr std::size_t kMaxNoteLists = 64;
constexpr std::size_t kMaxNoteListBytes = std::size_t{64} * 1024;

// The build id in a list of notes.  A description, and the next note, begin at multiples of 4 bytes, or of 8
// where the list is aligned so.
std::optional<BuildId> find_build_id(std::span<const std::byte> notes, std::uint64_t alignment) {
  const std::uint64_t align = alignment == 8 ? 8 : 4;
  const auto padded = [align](std::uint64_t size) { return (size + align - 1) & ~(align - 1); };
  ByteReader reader(notes.first(std::min(notes.size(), kMaxNoteListBytes)));
  while (const auto header = reader.read<Elf64_Nhdr>()) {
    const auto owner = reader.take(padded(sizeof(*header) + header->n_namesz) - sizeof(*header));
    const auto description = owner ? reader.take(header->n_descsz) : std::nullopt;
    if (!description) break;
    if (header->n_type == NT_GNU_BUILD_ID && as_text(*owner).starts_with(std::string_view("GNU\0", 4))) {
      return BuildId::from_bytes(*description);
    }
    if (!reader.take(padded(reader.offset()) - reader.offset())) break;
  }
  return std::nullopt;
}

// How many symbols a DT_GNU_HASH table covers: one more than the last symbol of its longest-reaching chain.
std::size_t count_by_gnu_hash(std::span<const std::byte> table) {
  ByteReader reader(table);
  const auto buckets = reader.read<std::uint32_t>();
  const auto first_hashed = reader.read<std::uint32_t>();
  const auto bloom_words = reader.read<std::uint32_t>();
  const auto bloom_shift = reader.read<std::uint32_t>();
  if (!bloom_shift || !reader.take(std::uint64_t{*bloom_words} * 8)) return 0;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < *buckets; ++i) {
    const auto chain = reader.read<std::uint32_t>();
    if (!chain) return 0;
    last = std::max(last, *chain);
  }
  if (last < *first_hashed) return *first_hashed;
  if (!reader.take(std::uint64_t{last - *first_hashed} * 4)) return 0;
  for (std::size_t count = std::size_t{last} + 1;; ++count) {
    const auto hash = reader.read<std::uint32_t>();
    if (!hash) return 0;
    if ((*hash & 1) != 0) return count;
  }
}

}  // namespace

std::size_t ElfSymbols::size() const {
  return entries_.size() / sizeof(Elf64_Sym);
}

ElfSymbol ElfSymbols::operator[](std::size_t index) const {
  NODESCOPE_CHECK(index < size());
  Elf64_Sym raw;
  std::memcpy(&raw, entries_.data() + index * sizeof(raw), sizeof(raw));
  return {raw.st_name, raw.st_info, raw.st_other, raw.st_shndx, raw.st_value, raw.st_size};
}

std::string_view ElfSymbols::name_at(std::uint32_t offset) const {
  return c_string_at(names_, offset, kMaxNameBytes);
}

std::optional<ElfSymbol> ElfSymbols::find(std::string_view name) const {
  for (std::size_t i = 0; i < size(); ++i) {
    const ElfSymbol symbol = (*this)[i];
    // Compared in place: taking every name's length first would cost more than the comparison.
    if (symbol.section == SHN_UNDEF || symbol.name >= names_.size()) continue;
    const std::string_view rest = names_.substr(symbol.name);
    if (rest.size() > name.size() && rest[name.size()] == '\0' && rest.starts_with(name)) return symbol;
  }
  return std::nullopt;
}

Result<ElfFile> ElfFile::parse(std::span<const std::byte> bytes) {
  ElfFile file(bytes);
  const auto ident = ByteReader(bytes).take(EI_NIDENT);
  if (!ident || !as_text(*ident).starts_with(std::string_view(ELFMAG, SELFMAG))) {
    return fail(ErrorCode::kInvalidInput, "not an ELF file");
  }
  const auto ident_byte = [&](std::size_t i) { return std::to_integer<std::uint8_t>((*ident)[i]); };
  if (ident_byte(EI_CLASS) != ELFCLASS64) {
    return fail(ErrorCode::kUnsupported, "a 32-bit ELF file: only 64-bit ones are read");
  }
  if (ident_byte(EI_DATA) != ELFDATA2LSB) {
    return fail(ErrorCode::kUnsupported, "a big-endian ELF file: only little-endian ones are read");
  }
  const auto header = file.load<Elf64_Ehdr>(0);
  if (!header) return fail(ErrorCode::kInvalidInput, "an ELF file that ends within its header");
  if (header->e_machine != EM_X86_64 && header->e_machine != EM_AARCH64) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("an ELF file for machine number {}: only x86-64 and aarch64 are read",
                            header->e_machine));
  }
  file.machine_ = header->e_machine == EM_X86_64 ? Machine::kX86_64 : Machine::kAarch64;
  file.type_ = type_of(header->e_type);
  file.find_tables();
  return file;
}

template <typename T>
std::optional<T> ElfFile::load(std::uint64_t offset) const {
  if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes_.data() + offset, sizeof(T));
  return value;
}

std::span<const std::byte> ElfFile::slice(FileOffset offset, std::uint64_t size_bytes) const {
  if (offset.value >= bytes_.size()) return {};
  const std::uint64_t room = bytes_.size() - offset.value;
  return bytes_.subspan(static_cast<std::size_t>(offset.value),
                        static_cast<std::size_t>(std::min(room, size_bytes)));
}

// Counts that do not fit into the header are in the first section header (the ELF specification's "extended
// numbering").
void ElfFile::find_tables() {
  const Elf64_Ehdr header = *load<Elf64_Ehdr>(0);
  const bool has_sections = header.e_shoff != 0 && header.e_shentsize == sizeof(Elf64_Shdr);
  const Elf64_Shdr first =
      has_sections ? load<Elf64_Shdr>(header.e_shoff).value_or(Elf64_Shdr{}) : Elf64_Shdr{};
  const auto room_for = [&](std::uint64_t table, std::uint64_t count, std::size_t entry) {
    return table >= bytes_.size()
               ? 0
               : static_cast<std::size_t>(std::min(count, (bytes_.size() - table) / entry));
  };
  if (has_sections) {
    section_table_ = header.e_shoff;
    section_count_ =
        room_for(section_table_, header.e_shnum != 0 ? header.e_shnum : first.sh_size, sizeof(Elf64_Shdr));
    const std::size_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
    if (const auto section_of_names = section(names)) section_names_ = as_text(content(*section_of_names));
  }
  if (header.e_phoff != 0 && header.e_phentsize == sizeof(Elf64_Phdr)) {
    segment_table_ = header.e_phoff;
    const std::uint64_t count = header.e_phnum != PN_XNUM ? header.e_phnum : first.sh_info;
    segment_count_ = room_for(segment_table_, count, sizeof(Elf64_Phdr));
  }
  for (std::size_t i = 0; i < segment_count_ && loads_.size() < kMaxLoads; ++i) {
    const auto found = segment(i);
    if (found->type == PT_LOAD) loads_.push_back(*found);
  }
}

std::optional<ElfSection> ElfFile::section(std::size_t index) const {
  if (index >= section_count_) return std::nullopt;
  const Elf64_Shdr raw = *load<Elf64_Shdr>(section_table_ + index * sizeof(Elf64_Shdr));
  return ElfSection{c_string_at(section_names_, raw.sh_name, kMaxSectionNameBytes),
                    raw.sh_type,
                    raw.sh_flags,
                    FileAddress{raw.sh_addr},
                    FileOffset{raw.sh_offset},
                    raw.sh_size,
                    raw.sh_link,
                    raw.sh_info,
                    raw.sh_entsize,
                    raw.sh_addralign};
}

std::optional<ElfSection> ElfFile::find_section(std::string_view name) const {
  for (std::size_t i = 0; i < section_count_; ++i) {
    const auto candidate = section(i);
    if (candidate->name == name) return candidate;
  }
  return std::nullopt;
}

std::optional<ElfSection> ElfFile::find_section_of_type(std::uint32_t type) const {
  for (std::size_t i = 0; i < section_count_; ++i) {
    const auto candidate = section(i);
    if (candidate->type == type) return candidate;
  }
  return std::nullopt;
}

std::optional<ElfSegment> ElfFile::segment(std::size_t index) const {
  if (index >= segment_count_) return std::nullopt;
  const Elf64_Phdr raw = *load<Elf64_Phdr>(segment_table_ + index * sizeof(Elf64_Phdr));
  return ElfSegment{
      raw.p_type,  raw.p_flags, FileOffset{raw.p_offset}, FileAddress{raw.p_vaddr}, raw.p_filesz,
      raw.p_memsz, raw.p_align};
}

std::optional<ElfSegment> ElfFile::find_segment(std::uint32_t type) const {
  for (std::size_t i = 0; i < segment_count_; ++i) {
    const auto candidate = segment(i);
    if (candidate->type == type) return candidate;
  }
  return std::nullopt;
}

std::span<const std::byte> ElfFile::content(const ElfSection& section) const {
  if (section.type == SHT_NOBITS || section.type == SHT_NULL) return {};
  return slice(section.offset, section.size_bytes);
}

std::span<const std::byte> ElfFile::content(const ElfSegment& segment) const {
  return slice(segment.offset, segment.file_bytes);
}

std::span<const std::byte> ElfFile::content_at(FileAddress address) const {
  for (const ElfSegment& load : loads_) {
    const std::uint64_t inside = address - load.address;
    if (inside < load.file_bytes) return slice(load.offset + inside, load.file_bytes - inside);
  }
  return {};
}

std::optional<FileAddress> ElfFile::to_address(FileOffset offset) const {
  for (const ElfSegment& load : loads_) {
    const std::uint64_t inside = offset - load.offset;
    if (inside < load.file_bytes) return load.address + inside;
  }
  return std::nullopt;
}

std::optional<FileOffset> ElfFile::to_offset(FileAddress address) const {
  for (const ElfSegment& load : loads_) {
    const std::uint64_t inside = address - load.address;
    if (inside < load.file_bytes) return load.offset + inside;
  }
  return std::nullopt;
}

ElfSymbols ElfFile::symbols_of(const ElfSection& symbols) const {
  const auto names = section(symbols.link);
  if (!names || names->type != SHT_STRTAB || symbols.entry_bytes != sizeof(Elf64_Sym)) return {};
  return {content(symbols), as_text(content(*names))};
}

ElfSymbols ElfFile::symtab() const {
  const auto found = find_section_of_type(SHT_SYMTAB);
  return found ? symbols_of(*found) : ElfSymbols{};
}

ElfSymbols ElfFile::dynsym() const {
  if (const auto found = find_section_of_type(SHT_DYNSYM)) {
    const ElfSymbols symbols = symbols_of(*found);
    if (!symbols.empty()) return symbols;
  }
  return dynsym_by_segment();
}

std::optional<std::uint64_t> ElfFile::dynamic_entry(std::int64_t tag) const {
  const auto dynamic = find_segment(PT_DYNAMIC);
  if (!dynamic) return std::nullopt;
  ByteReader reader(content(*dynamic));
  while (const auto entry = reader.read<Elf64_Dyn>()) {
    if (entry->d_tag == DT_NULL) break;
    if (entry->d_tag == tag) return entry->d_un.d_val;
  }
  return std::nullopt;
}

// PT_DYNAMIC does not say how many symbols there are; the hash tables do.
ElfSymbols ElfFile::dynsym_by_segment() const {
  const auto symbols = dynamic_entry(DT_SYMTAB);
  const auto names = dynamic_entry(DT_STRTAB);
  const auto names_size = dynamic_entry(DT_STRSZ);
  if (!symbols || !names || !names_size) return {};
  std::size_t count = 0;
  if (const auto hash = dynamic_entry(DT_HASH)) {
    ByteReader reader(content_at(FileAddress{*hash}));
    const auto buckets = reader.read<std::uint32_t>();
    count = buckets ? reader.read<std::uint32_t>().value_or(0) : 0;
  } else if (const auto gnu_hash = dynamic_entry(DT_GNU_HASH)) {
    count = count_by_gnu_hash(content_at(FileAddress{*gnu_hash}));
  }
  const auto entries = content_at(FileAddress{*symbols});
  const std::string_view text = as_text(content_at(FileAddress{*names}));
  return {entries.first(std::min(entries.size(), count * sizeof(Elf64_Sym))),
          text.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(*names_size, text.size())))};
}

// Sections before segments: the program headers of a separate debug file are those of the original binary,
// and their offsets lead anywhere.
std::optional<BuildId> ElfFile::build_id() const {
  std::size_t lists_left = kMaxNoteLists;
  for (std::size_t i = 0; i < section_count_ && lists_left != 0; ++i) {
    const auto candidate = section(i);
    if (candidate->type != SHT_NOTE) continue;
    --lists_left;
    if (auto id = find_build_id(content(*candidate), candidate->alignment)) return id;
  }
  for (std::size_t i = 0; i < segment_count_ && lists_left != 0; ++i) {
    const auto candidate = segment(i);
    if (candidate->type != PT_NOTE) continue;
    --lists_left;
    if (auto id = find_build_id(content(*candidate), candidate->alignment)) return id;
  }
  return std::nullopt;
}

// The file's name, NUL, padding to 4 bytes, CRC-32.
std::optional<DebugLink> ElfFile::debug_link() const {
  const auto link = find_section(".gnu_debuglink");
  if (!link) return std::nullopt;
  ByteReader reader(content(*link));
  const auto name = reader.read_c_string();
  if (!name || name->empty() || !reader.take((4 - reader.offset() % 4) % 4)) return std::nullopt;
  const auto crc = reader.read<std::uint32_t>();
  if (!crc) return std::nullopt;
  return DebugLink{*name, *crc};
}

Result<OwnedElf> OwnedElf::read(std::unique_ptr<ByteSource> source) {
  auto storage = std::make_unique<std::string>();
  const auto bytes = read_whole(*source, *storage, kMaxElfBytes);
  if (!bytes) return std::unexpected(bytes.error());
  auto file = ElfFile::parse(*bytes);
  if (!file) return fail(std::move(file.error()), source->name());
  return OwnedElf(std::move(source), std::move(storage), std::move(*file));
}

}  // namespace nodescope
