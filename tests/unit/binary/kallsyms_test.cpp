#include "binary/kallsyms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nodescope {
namespace {

struct Read {
  KernelSymbols symbols;
  Diagnostics diagnostics;
};

Read read(std::string_view text) {
  Read result;
  MemorySource source(text, "/proc/kallsyms");
  result.symbols = KernelSymbols::read(source, result.diagnostics).value();
  return result;
}

std::string name_at(const KernelSymbols& symbols, std::uint64_t address) {
  const auto symbol = symbols.find(Address{address});
  return symbol ? std::string(symbol->name) : "";
}

constexpr std::string_view kText =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000040 t do_one_initcall\n"
    "ffffffff81000100 W weak_function\n"
    "ffffffff82000000 D jiffies\n"
    "ffffffffc0a81000 t nft_do_chain\t[nf_tables]\n"
    "ffffffffc0a81200 t nft_immediate\t[nf_tables]\n"
    "ffffffffc0b00010 t bpf_prog_1234_count\t[bpf]\n"
    "ffffffffc0900000 T ext4_read\t[ext4]\n";

TEST(KernelSymbols, FindsFunctionsAndModules) {
  const Read kernel = read(kText);
  EXPECT_EQ(kernel.diagnostics.entries().size(), 0u);
  EXPECT_FALSE(kernel.symbols.addresses_hidden());
  EXPECT_EQ(name_at(kernel.symbols, 0xffffffff81000050), "do_one_initcall");
  EXPECT_EQ(name_at(kernel.symbols, 0xffffffff81000100), "weak_function");
  EXPECT_EQ(*kernel.symbols.find(Address{0xffffffffc0a81234}),
            (KernelSymbol{Address{0xffffffffc0a81200}, "nft_immediate", "nf_tables"}));
  EXPECT_EQ(kernel.symbols.find(Address{0xffffffffc0b00020})->module, "bpf");
  EXPECT_EQ(kernel.symbols.find(Address{0xffffffffc0900004})->name, "ext4_read");
  EXPECT_EQ(name_at(kernel.symbols, 0x1000), "");
}

TEST(KernelSymbols, OfSeveralNamesTheLast) {
  EXPECT_EQ(name_at(read(kText).symbols, 0xffffffff81000000), "_stext");
}

TEST(KernelSymbols, TheLastOfAModuleDoesNotReachToTheNext) {
  const Read kernel = read(kText);
  EXPECT_EQ(name_at(kernel.symbols, 0xffffffff81001FFF), "weak_function");
  EXPECT_EQ(name_at(kernel.symbols, 0xffffffff81002000), "");
  EXPECT_EQ(name_at(kernel.symbols, 0xffffffffc0a82FFF), "nft_immediate");
  EXPECT_EQ(name_at(kernel.symbols, 0xffffffffc0a83000), "");
  EXPECT_EQ(name_at(kernel.symbols, 0xffffffffffffffff), "");
}

TEST(KernelSymbols, AtTheEndOfTheAddressSpace) {
  const Read kernel = read("fffffffffffff800 T last\n");
  EXPECT_EQ(name_at(kernel.symbols, 0xfffffffffffff900), "last");
}

TEST(KernelSymbols, AddressOfAnyFunction) {
  const Read kernel = read(kText);
  EXPECT_EQ(kernel.symbols.address_of("_text"), Address{0xffffffff81000000});
  EXPECT_EQ(kernel.symbols.address_of("_stext"), Address{0xffffffff81000000});
  EXPECT_EQ(kernel.symbols.address_of("weak_function"), Address{0xffffffff81000100});
  EXPECT_FALSE(kernel.symbols.address_of("_tex"));
  EXPECT_FALSE(kernel.symbols.address_of("ext4_read"));
  EXPECT_FALSE(kernel.symbols.address_of("nf_tables"));
}

TEST(KernelSymbols, SaysWhenAddressesAreHidden) {
  const Read kernel = read("0000000000000000 T _text\n0000000000000000 t do_one_initcall\n");
  EXPECT_TRUE(kernel.symbols.addresses_hidden());
  EXPECT_EQ(kernel.symbols.size(), 0u);
  EXPECT_EQ(name_at(kernel.symbols, 0), "");
  EXPECT_FALSE(kernel.symbols.address_of("_text"));
  ASSERT_EQ(kernel.diagnostics.entries().size(), 1u);
  EXPECT_THAT(kernel.diagnostics.entries()[0].what, ::testing::HasSubstr("kernel.kptr_restrict"));
}

TEST(KernelSymbols, CountsLinesThatItDoesNotUnderstand) {
  const Read kernel =
      read("\nxyz T a\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T good\nffff T bad\t[open");
  EXPECT_EQ(kernel.symbols.size(), 1u);
  ASSERT_EQ(kernel.diagnostics.entries().size(), 1u);
  EXPECT_EQ(kernel.diagnostics.entries()[0].count, 4u);
  EXPECT_EQ(kernel.diagnostics.entries()[0].example, "/proc/kallsyms line 2");
}

TEST(KernelSymbols, StaysValidWhenMoved) {
  Read kernel = read(kText);
  const KernelSymbols moved = std::move(kernel.symbols);
  EXPECT_EQ(name_at(moved, 0xffffffff81000050), "do_one_initcall");
  EXPECT_EQ(KernelSymbols().size(), 0u);
  EXPECT_FALSE(KernelSymbols().find(Address{1}));
}

TEST(KernelSymbols, EveryPrefixIsSafe) {
  for (std::size_t size = 0; size < kText.size(); ++size) {
    const Read kernel = read(kText.substr(0, size));
    (void)kernel.symbols.find(Address{0xffffffff81000050});
    (void)kernel.symbols.address_of("_text");
  }
}

}  // namespace
}  // namespace nodescope
