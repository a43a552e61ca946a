#include "binary/symbol_table.h"

#include <gtest/gtest.h>

#include "elf_builder.h"
#include "own_binary.h"

// Known by name in this program's own symbol table.
extern "C" __attribute__((noinline)) int nodescope_test_function(int value) {
  return value * 3 + 1;
}

namespace nodescope {
namespace {

using testing::bytes_of;
using testing::bytes_of_all;
using testing::ElfBuilder;
using Symbols = std::vector<ElfBuilder::Symbol>;

// The table of a binary with 4 KB of code at 0x1000 and these symbols.
class Built {
 public:
  explicit Built(const Symbols& symbols, Elf64_Half machine = EM_X86_64) {
    ElfBuilder builder;
    builder.machine = machine;
    builder.add_text(0x1000, std::string(0x1000, '\x90'));
    builder.add({.name = ".data", .flags = SHF_ALLOC | SHF_WRITE, .address = 0x4000, .content = "data"});
    builder.add_symbols(symbols);
    bytes_ = builder.build();
    table_ = SymbolTable::build(*ElfFile::parse(as_byte_span(bytes_)));
  }
  std::string name_at(std::uint64_t address) const {
    const auto symbol = table_.find(FileAddress{address});
    return symbol ? std::string(symbol->name) : "";
  }
  const SymbolTable& table() const { return table_; }

 private:
  std::string bytes_;
  SymbolTable table_;
};

TEST(SymbolTable, FindsTheFunctionAroundAnAddress) {
  const Built built({{.name = "second", .value = 0x1100, .size_bytes = 0x20},
                     {.name = "first", .value = 0x1010, .size_bytes = 0x10}});
  EXPECT_EQ(built.name_at(0x100F), "");
  EXPECT_EQ(built.name_at(0x1010), "first");
  EXPECT_EQ(built.name_at(0x101F), "first");
  EXPECT_EQ(built.name_at(0x1020), "");
  EXPECT_EQ(built.name_at(0x1110), "second");
  EXPECT_EQ(built.name_at(0xFFFFFFFFFFFFFFFF), "");
  const auto symbol = built.table().find(FileAddress{0x1110});
  EXPECT_EQ(*symbol, (Symbol{FileAddress{0x1100}, 0x20, "second", false}));
}

TEST(SymbolTable, TakesOnlyCode) {
  const Built built({{.name = "ifunc", .value = 0x1000, .size_bytes = 4, .type = STT_GNU_IFUNC},
                     {.name = "label", .value = 0x1010, .type = STT_NOTYPE},
                     {.name = "hidden", .value = 0x1020, .type = STT_NOTYPE, .other = STV_HIDDEN},
                     {.name = "undefined", .value = 0x1030, .size_bytes = 4, .section = SHN_UNDEF},
                     {.name = "variable", .value = 0x4000, .size_bytes = 4, .type = STT_OBJECT, .section = 2},
                     {.name = "data_label", .value = 0x4002, .type = STT_NOTYPE, .section = 2},
                     {.name = "file", .value = 0x1040, .size_bytes = 4, .type = STT_FILE}});
  EXPECT_EQ(built.name_at(0x1000), "ifunc");
  EXPECT_EQ(built.name_at(0x1010), "label");
  EXPECT_EQ(built.name_at(0x1020), "label");  // reaches on, because nothing else begins
  EXPECT_EQ(built.name_at(0x4000), "");
  EXPECT_EQ(built.table().size(), 2u);
}

TEST(SymbolTable, LeavesOutMappingSymbolsOfAarch64) {
  const Built built({{.name = "$x", .value = 0x1000, .type = STT_NOTYPE, .binding = STB_LOCAL},
                     {.name = "$d.12", .value = 0x1010, .type = STT_NOTYPE, .binding = STB_LOCAL},
                     {.name = "$xyz", .value = 0x1020, .type = STT_NOTYPE}},
                    EM_AARCH64);
  EXPECT_EQ(built.table().size(), 1u);
  EXPECT_EQ(built.name_at(0x1020), "$xyz");
}

TEST(SymbolTable, ChoosesBetweenAliasesAsPerfDoes) {
  const auto chosen = [](const ElfBuilder::Symbol& a, const ElfBuilder::Symbol& b) {
    const std::string one = Built({a, b}).name_at(0x1000);
    EXPECT_EQ(one, Built({b, a}).name_at(0x1000)) << "the order must not matter";
    return one;
  };
  EXPECT_EQ(chosen({.name = "unsized_with_long_name", .value = 0x1000},
                   {.name = "_sized", .value = 0x1000, .size_bytes = 8, .binding = STB_WEAK}),
            "_sized");
  EXPECT_EQ(chosen({.name = "weak", .value = 0x1000, .size_bytes = 8, .binding = STB_WEAK},
                   {.name = "__local", .value = 0x1000, .size_bytes = 8, .binding = STB_LOCAL}),
            "__local");
  EXPECT_EQ(chosen({.name = "local", .value = 0x1000, .size_bytes = 8, .binding = STB_LOCAL},
                   {.name = "__global", .value = 0x1000, .size_bytes = 8}),
            "__global");
  EXPECT_EQ(chosen({.name = "__longer_name", .value = 0x1000, .size_bytes = 8},
                   {.name = "name", .value = 0x1000, .size_bytes = 8}),
            "name");
  EXPECT_EQ(chosen({.name = "name", .value = 0x1000, .size_bytes = 8},
                   {.name = "longer_name", .value = 0x1000, .size_bytes = 8}),
            "longer_name");
  // Demangled, the first has no underscore: that counts.
  EXPECT_EQ(chosen({.name = "_ZN1a1bEv", .value = 0x1000, .size_bytes = 8},
                   {.name = "_a_b_c_d_e", .value = 0x1000, .size_bytes = 8}),
            "_ZN1a1bEv");
}

TEST(SymbolTable, OfEqualAliasesTheFirstInTheFile) {
  EXPECT_EQ(Built({{.name = "aa", .value = 0x1000, .size_bytes = 8},
                   {.name = "bb", .value = 0x1000, .size_bytes = 8}})
                .name_at(0x1000),
            "aa");
  EXPECT_EQ(Built({{.name = "_ZN1aC2Ev", .value = 0x1000, .size_bytes = 8},
                   {.name = "_ZN1aC1Ev", .value = 0x1000, .size_bytes = 8}})
                .name_at(0x1000),
            "_ZN1aC2Ev");
}

TEST(SymbolTable, WithoutASizeReachesToTheNextOrTheEndOfTheSection) {
  const Built built({{.name = "a", .value = 0x1000}, {.name = "b", .value = 0x1800}});
  EXPECT_EQ(built.name_at(0x17FF), "a");
  EXPECT_EQ(built.name_at(0x1800), "b");
  EXPECT_EQ(built.name_at(0x1FFF), "b");
  EXPECT_EQ(built.name_at(0x2000), "");
}

TEST(SymbolTable, ALabelInsideOfAFunctionOwnsNothing) {
  const Built built({{.name = "function", .value = 0x1000, .size_bytes = 0x100},
                     {.name = "label", .value = 0x1010, .type = STT_NOTYPE},
                     {.name = "after", .value = 0x1100, .type = STT_NOTYPE}});
  EXPECT_EQ(built.name_at(0x1010), "function");
  EXPECT_EQ(built.name_at(0x10FF), "function");
  EXPECT_EQ(built.name_at(0x1100), "after");
}

TEST(SymbolTable, OfOverlappingFunctionsTheLastToBeginWinsUntilItsEnd) {
  const Built built({{.name = "outer", .value = 0x1000, .size_bytes = 0x100},
                     {.name = "inner", .value = 0x1020, .size_bytes = 0x10},
                     {.name = "crossing", .value = 0x10F0, .size_bytes = 0x20}});
  EXPECT_EQ(built.name_at(0x101F), "outer");
  EXPECT_EQ(built.name_at(0x1020), "inner");
  EXPECT_EQ(built.name_at(0x1030), "outer");
  EXPECT_EQ(built.name_at(0x10EF), "outer");
  EXPECT_EQ(built.name_at(0x10F0), "crossing");
  EXPECT_EQ(built.name_at(0x110F), "crossing");
  EXPECT_EQ(built.name_at(0x1110), "");
  EXPECT_EQ(built.table().find(FileAddress{0x1030})->address, FileAddress{0x1000});
}

TEST(SymbolTable, ASizeThatWrapsAroundIsCut) {
  const Built built({{.name = "huge", .value = 0x1000, .size_bytes = 0xFFFFFFFFFFFFFFFF},
                     {.name = "inner", .value = 0x1020, .size_bytes = 0x10}});
  EXPECT_EQ(built.name_at(0x1000), "huge");
  EXPECT_EQ(built.name_at(0x1020), "inner");
  EXPECT_EQ(built.name_at(0xFFFFFFFFFFFFFFF0), "huge");
}

TEST(SymbolTable, PrefersTheSymtabOfTheDebugFile) {
  ElfBuilder stripped;
  stripped.add_text(0x1000, std::string(0x100, '\x90'));
  stripped.add_symbols({{.name = "exported", .value = 0x1000, .size_bytes = 0x10}}, true);
  const std::string stripped_bytes = stripped.build();
  ElfBuilder debug;
  // The code of a separate debug file is not in it.
  debug.add({.name = ".text",
             .type = SHT_NOBITS,
             .flags = SHF_ALLOC | SHF_EXECINSTR,
             .address = 0x1000,
             .size_bytes = 0x100});
  debug.add_symbols({{.name = "internal", .value = 0x1050, .size_bytes = 0x10, .binding = STB_LOCAL}});
  const std::string debug_bytes = debug.build();
  const auto binary = ElfFile::parse(as_byte_span(stripped_bytes));
  const auto debug_file = ElfFile::parse(as_byte_span(debug_bytes));
  EXPECT_EQ(SymbolTable::build(*binary).find(FileAddress{0x1000})->name, "exported");
  const SymbolTable table = SymbolTable::build(*binary, &*debug_file);
  EXPECT_EQ(table.find(FileAddress{0x1050})->name, "internal");
  // A debug file without symbols changes nothing.
  EXPECT_EQ(SymbolTable::build(*binary, &*binary).find(FileAddress{0x1000})->name, "exported");
}

// A binary whose .plt has one head and two stubs, in the order opposite to that of the relocations.
std::string elf_with_plt(Elf64_Half machine, const std::string& plt) {
  ElfBuilder builder;
  builder.machine = machine;
  builder.add({.name = ".plt", .flags = SHF_ALLOC | SHF_EXECINSTR, .address = 0x2000, .content = plt});
  builder.add_symbols({{.name = "malloc", .section = SHN_UNDEF}, {.name = "_Znwm", .section = SHN_UNDEF}},
                      true);
  const auto relocation = [](std::uint64_t slot, std::uint64_t symbol) {
    return bytes_of(Elf64_Rela{slot, ELF64_R_INFO(symbol, R_X86_64_JUMP_SLOT), 0});
  };
  builder.add({.name = ".rela.plt",
               .type = SHT_RELA,
               .content = relocation(0x3018, 1) + relocation(0x3020, 2) + relocation(0x3028, 99)});
  return builder.build();
}

TEST(SymbolTable, NamesPltStubsByTheSlotTheyJumpThrough) {
  const auto stub = [](std::uint64_t address, std::uint64_t slot, std::string_view prefix) {
    std::string code(prefix);
    code += "\xFF\x25";
    code += bytes_of(static_cast<std::int32_t>(slot - (address + code.size() + 4)));
    code.resize(16, '\x90');
    return code;
  };
  const std::string plt = std::string(16, '\x90') + stub(0x2010, 0x3020, "") +
                          stub(0x2020, 0x3018, "\xF3\x0F\x1E\xFA\xF2") + stub(0x2030, 0x3028, "");
  const std::string bytes = elf_with_plt(EM_X86_64, plt);
  const SymbolTable table = SymbolTable::build(*ElfFile::parse(as_byte_span(bytes)));
  EXPECT_FALSE(table.find(FileAddress{0x2000}));
  ASSERT_TRUE(table.find(FileAddress{0x2010}));
  EXPECT_EQ(display_name(*table.find(FileAddress{0x2010})), "operator new@plt");
  EXPECT_EQ(display_name(*table.find(FileAddress{0x202F})), "malloc@plt");
  EXPECT_FALSE(table.find(FileAddress{0x2030}));
}

TEST(SymbolTable, NamesPltStubsOfAarch64) {
  // adrp x16, 0x3000; ldr x17, [x16, #0x18]; add x16, x16, #0x18; br x17
  const std::string stub = bytes_of_all(0xB0000010u, 0xF9400E11u, 0x91006210u, 0xD61F0220u);
  const std::string bytes = elf_with_plt(EM_AARCH64, std::string(32, '\0') + stub);
  const SymbolTable table = SymbolTable::build(*ElfFile::parse(as_byte_span(bytes)));
  ASSERT_TRUE(table.find(FileAddress{0x2020}));
  EXPECT_EQ(display_name(*table.find(FileAddress{0x2020})), "malloc@plt");
}

TEST(SymbolTable, FindsFunctionsOfThisProgram) {
  const SymbolTable table = SymbolTable::build(testing::own_binary());
  const auto address = reinterpret_cast<std::uint64_t>(&nodescope_test_function) - testing::own_bias();
  const auto symbol = table.find(FileAddress{address});
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->name, "nodescope_test_function");
  EXPECT_EQ(symbol->address, FileAddress{address});
  const auto parse = reinterpret_cast<std::uint64_t>(&ElfFile::parse) - testing::own_bias();
  EXPECT_EQ(display_name(*table.find(FileAddress{parse + 1})), "nodescope::ElfFile::parse");
}

TEST(SymbolTable, PiecesAreSortedAndDoNotOverlap) {
  const SymbolTable table = SymbolTable::build(testing::own_binary());
  ASSERT_GT(table.size(), 1000u);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Symbol symbol = table[i];
    const auto found = table.find(symbol.address);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->address, symbol.address);
  }
}

}  // namespace
}  // namespace nodescope
