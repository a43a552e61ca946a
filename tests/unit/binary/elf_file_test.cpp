#include "binary/elf_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elf_builder.h"
#include "own_binary.h"

namespace nodescope {
namespace {

using testing::bytes_of;
using testing::bytes_of_all;
using testing::ElfBuilder;
using ::testing::HasSubstr;

Result<ElfFile> parse(const std::string& bytes) {
  return ElfFile::parse(as_byte_span(bytes));
}

std::string small_elf() {
  ElfBuilder builder;
  builder.add_text(0x1000, "some code");
  builder.add_symbols({{.name = "main", .value = 0x1000, .size_bytes = 9}});
  builder.add_build_id("0123456789abcdefghij");
  return builder.build();
}

TEST(ElfFile, RefusesWhatItDoesNotReadAndSaysWhy) {
  std::string elf = small_elf();
  EXPECT_EQ(parse("").error().message, "not an ELF file");
  EXPECT_EQ(parse("#!/bin/sh\nexec node").error().message, "not an ELF file");
  EXPECT_THAT(parse(elf.substr(0, 40)).error().message, HasSubstr("ends within its header"));
  std::string narrow = elf;
  narrow[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(parse(narrow).error().message, HasSubstr("32-bit"));
  std::string big_endian = elf;
  big_endian[EI_DATA] = ELFDATA2MSB;
  EXPECT_THAT(parse(big_endian).error().message, HasSubstr("big-endian"));
  ElfBuilder builder;
  builder.machine = EM_RISCV;
  const auto other = parse(builder.build());
  EXPECT_EQ(other.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(other.error().message, HasSubstr("machine number 243"));
}

TEST(ElfFile, ReadsSectionsAndSegments) {
  const std::string bytes = small_elf();
  const auto file = parse(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->machine(), Machine::kX86_64);
  EXPECT_EQ(file->type(), ElfType::kShared);
  const auto text = file->find_section(".text");
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->executable());
  EXPECT_TRUE(text->allocated());
  EXPECT_EQ(as_text(file->content(*text)), "some code");
  ASSERT_EQ(file->loads().size(), 1u);
  EXPECT_EQ(file->loads()[0].in_memory(), (Range<FileAddress>{FileAddress{0x1000}, FileAddress{0x1009}}));
  EXPECT_FALSE(file->find_section(".data"));
  EXPECT_FALSE(file->section(1000));
  EXPECT_FALSE(file->segment(1000));
}

TEST(ElfFile, ReadsAarch64) {
  ElfBuilder builder;
  builder.machine = EM_AARCH64;
  const std::string bytes = builder.build();
  EXPECT_EQ(parse(bytes)->machine(), Machine::kAarch64);
}

TEST(ElfFile, ConvertsBetweenOffsetsAndAddresses) {
  const std::string bytes = small_elf();
  const auto file = parse(bytes);
  const FileOffset begin = file->loads()[0].offset;
  EXPECT_EQ(file->to_address(begin + 5), FileAddress{0x1005});
  EXPECT_EQ(file->to_offset(FileAddress{0x1005}), begin + 5);
  EXPECT_FALSE(file->to_address(begin + 9));
  EXPECT_FALSE(file->to_offset(FileAddress{0x1009}));
  EXPECT_FALSE(file->to_offset(FileAddress{0xFFF}));
  EXPECT_EQ(as_text(file->content_at(FileAddress{0x1005})), "code");
  EXPECT_TRUE(file->content_at(FileAddress{0x1009}).empty());
}

TEST(ElfFile, CutsWhatLeadsOutOfTheFile) {
  ElfBuilder builder;
  builder.add({.name = ".long", .content = "abc", .size_bytes = 0xFFFFFFFFFFFFFFFF});
  builder.add({.name = ".bss", .type = SHT_NOBITS, .size_bytes = 0x100000});
  const std::string bytes = builder.build();
  const auto file = parse(bytes);
  EXPECT_TRUE(as_text(file->content(*file->find_section(".long"))).starts_with("abc"));
  EXPECT_TRUE(file->content(*file->find_section(".bss")).empty());
}

TEST(ElfFile, FindsSymbolsByName) {
  const std::string bytes = small_elf();
  const auto file = parse(bytes);
  const ElfSymbols symbols = file->symtab();
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols.name(symbols[1]), "main");
  EXPECT_EQ(symbols.find("main")->value, 0x1000u);
  EXPECT_FALSE(symbols.find("mai"));
  EXPECT_FALSE(symbols.find("main2"));
  EXPECT_EQ(symbols.name_at(0xFFFFFFFF), "");
  EXPECT_TRUE(file->dynsym().empty());
}

TEST(ElfFile, ReadsTheBuildId) {
  const std::string bytes = small_elf();
  const auto file = parse(bytes);
  ASSERT_TRUE(file->build_id());
  EXPECT_EQ(as_text(file->build_id()->bytes()), "0123456789abcdefghij");
}

TEST(ElfFile, FindsTheBuildIdAmongOtherNotesAndWithoutSections) {
  ElfBuilder builder;
  builder.with_section_headers = false;
  const std::string notes = ElfBuilder::note("stapsdt", 3, "not this") +
                            ElfBuilder::note("GNU", 1, "nor this") +
                            ElfBuilder::note("GNU", NT_GNU_BUILD_ID, "this one");
  const auto index = builder.add({.name = ".note", .type = SHT_NOTE, .content = notes, .alignment = 4});
  builder.add_segment(PT_NOTE, PF_R, index);
  const std::string bytes = builder.build();
  const auto file = parse(bytes);
  EXPECT_EQ(file->section_count(), 0u);
  EXPECT_EQ(as_text(file->build_id()->bytes()), "this one");
}

TEST(ElfFile, NotesAlignedToEightBytes) {
  // The owner's name ends at 16, the description of 4 bytes is padded to 8.
  const std::string property = bytes_of_all(4u, 4u, 5u) + std::string("GNU\0abcd\0\0\0\0", 12);
  const std::string id = bytes_of_all(4u, 8u, 3u) + std::string("GNU\0", 4) + "build id";
  ElfBuilder builder;
  builder.add({.name = ".note", .type = SHT_NOTE, .content = property + id, .alignment = 8});
  const std::string bytes = builder.build();
  // 12 bytes of header and 4 of name are already aligned to 8.
  EXPECT_EQ(as_text(parse(bytes)->build_id()->bytes()), "build id");
}

TEST(ElfFile, ANoteThatLiesAboutItsSizeIsNotFollowed) {
  ElfBuilder builder;
  builder.add({.name = ".note",
               .type = SHT_NOTE,
               .content = bytes_of_all(4u, 0xFFFFFFFFu, 3u) + std::string("GNU\0", 4) + "short",
               .alignment = 4});
  const std::string bytes = builder.build();
  EXPECT_FALSE(parse(bytes)->build_id());
}

TEST(ElfFile, ReadsTheDebugLink) {
  ElfBuilder builder;
  builder.add(
      {.name = ".gnu_debuglink", .content = std::string("libx.debug\0\0", 12) + bytes_of(0x12345678u)});
  const std::string bytes = builder.build();
  const auto link = parse(bytes)->debug_link();
  ASSERT_TRUE(link);
  EXPECT_EQ(link->file_name, "libx.debug");
  EXPECT_EQ(link->crc, 0x12345678u);
}

TEST(ElfFile, ADebugLinkWithoutItsCrcIsNone) {
  ElfBuilder builder;
  builder.add({.name = ".gnu_debuglink", .content = std::string("x\0", 2)});
  const std::string bytes = builder.build();
  EXPECT_FALSE(parse(bytes)->debug_link());
}

// .dynsym found by PT_DYNAMIC, with `hash_tag` to tell how many symbols there are.
std::string elf_without_sections(std::int64_t hash_tag, const std::string& hash) {
  Elf64_Sym entry{};
  entry.st_name = 1;
  entry.st_info = STT_FUNC;
  entry.st_shndx = 1;
  entry.st_value = 0x4321;
  const std::string symbols = std::string(sizeof(entry), '\0') + bytes_of(entry);
  ElfBuilder builder;
  builder.with_section_headers = false;
  const auto load = [&](std::uint64_t address, const std::string& content) {
    builder.add_segment(PT_LOAD, PF_R, builder.add({.address = address, .content = content}));
  };
  load(0x1000, symbols);
  load(0x2000, std::string("\0exported\0", 10));
  load(0x3000, hash);
  const auto entry_of = [](std::int64_t tag, std::uint64_t value) { return bytes_of_all(tag, value); };
  const auto dynamic =
      builder.add({.content = entry_of(DT_SYMTAB, 0x1000) + entry_of(DT_STRTAB, 0x2000) +
                              entry_of(DT_STRSZ, 10) + entry_of(hash_tag, 0x3000) + entry_of(DT_NULL, 0)});
  builder.add_segment(PT_DYNAMIC, PF_R, dynamic);
  return builder.build();
}

TEST(ElfFile, FindsDynamicSymbolsWithoutSections) {
  const std::string by_hash = elf_without_sections(DT_HASH, bytes_of_all(1u, 2u, 1u, 0u, 0u));
  ASSERT_EQ(parse(by_hash)->dynsym().size(), 2u);
  EXPECT_EQ(parse(by_hash)->dynsym().find("exported")->value, 0x4321u);
  // One bucket, symbols from 1, one bloom word; the chain of symbol 1 ends at once.
  const std::string gnu = bytes_of_all(1u, 1u, 1u, 6u, std::uint64_t{~0u}, 1u, 0x1235u);
  const std::string by_gnu_hash = elf_without_sections(DT_GNU_HASH, gnu);
  ASSERT_EQ(parse(by_gnu_hash)->dynsym().size(), 2u);
  EXPECT_EQ(parse(by_gnu_hash)->dynsym().find("exported")->value, 0x4321u);
}

TEST(ElfFile, AHashTableThatLiesGivesNoSymbols) {
  const std::string endless_chain = bytes_of_all(1u, 1u, 1u, 6u, std::uint64_t{~0u}, 1u, 0x1234u);
  EXPECT_TRUE(parse(elf_without_sections(DT_GNU_HASH, endless_chain))->dynsym().empty());
  const std::string many = bytes_of_all(1u, 0xFFFFFFFFu);
  const std::string elf = elf_without_sections(DT_HASH, many);
  EXPECT_LE(parse(elf)->dynsym().size(), elf.size() / sizeof(Elf64_Sym));
}

TEST(ElfFile, CountsThatDoNotFitIntoTheHeader) {
  std::string elf = small_elf();
  Elf64_Ehdr header;
  std::memcpy(&header, elf.data(), sizeof(header));
  Elf64_Shdr first;
  std::memcpy(&first, elf.data() + header.e_shoff, sizeof(first));
  first.sh_size = header.e_shnum;
  first.sh_link = header.e_shstrndx;
  header.e_shnum = 0;
  header.e_shstrndx = SHN_XINDEX;
  std::memcpy(elf.data(), &header, sizeof(header));
  std::memcpy(elf.data() + header.e_shoff, &first, sizeof(first));
  EXPECT_TRUE(parse(elf)->find_section(".text"));
}

TEST(ElfFile, ReadsThisProgram) {
  const ElfFile& file = testing::own_binary();
  ASSERT_TRUE(file.find_section(".text"));
  EXPECT_GT(file.symtab().size(), 100u);
  EXPECT_FALSE(file.loads().empty());
  const auto text = *file.find_section(".text");
  EXPECT_EQ(file.to_offset(text.address), text.offset);
}

void use_everything(const ElfFile& file) {
  for (std::size_t i = 0; i < file.section_count(); ++i) (void)file.content(*file.section(i));
  for (std::size_t i = 0; i < file.segment_count(); ++i) (void)file.content(*file.segment(i));
  for (const ElfSymbols& symbols : {file.symtab(), file.dynsym()}) {
    for (std::size_t i = 0; i < symbols.size(); ++i) (void)symbols.name(symbols[i]);
    (void)symbols.find("main");
  }
  (void)file.build_id();
  (void)file.debug_link();
}

TEST(ElfFile, EveryPrefixIsSafe) {
  for (const std::string& good :
       {small_elf(),
        elf_without_sections(DT_GNU_HASH, bytes_of_all(1u, 1u, 1u, 6u, std::uint64_t{1}, 1u, 1u))}) {
    for (std::size_t size = 0; size <= good.size(); ++size) {
      const std::string prefix = good.substr(0, size);
      if (const auto file = parse(prefix)) use_everything(*file);
    }
  }
}

TEST(OwnedElf, KeepsTheBytes) {
  // A source that cannot be mapped, so the bytes are copied.
  class Stream final : public ByteSource {
   public:
    explicit Stream(std::string bytes) : bytes_(std::move(bytes)) {}
    Result<std::size_t> read(std::span<std::byte> into) override {
      const std::size_t count = std::min(into.size(), bytes_.size() - position_);
      std::memcpy(into.data(), bytes_.data() + position_, count);
      position_ += count;
      return count;
    }
    std::string_view name() const override { return "stream"; }

   private:
    std::string bytes_;
    std::size_t position_ = 0;
  };
  auto elf = OwnedElf::read(std::make_unique<Stream>(small_elf()));
  ASSERT_TRUE(elf);
  OwnedElf moved = std::move(*elf);
  EXPECT_EQ(moved.file().symtab().find("main")->value, 0x1000u);
  EXPECT_EQ(moved.name(), "stream");
  EXPECT_EQ(OwnedElf::read(std::make_unique<Stream>("text")).error().message, "stream: not an ELF file");
}

}  // namespace
}  // namespace nodescope
