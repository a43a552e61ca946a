// Everything that is done with a binary that a recording names: it may come from a hostile container.
#include <cstdint>
#include <span>

#include "base/check.h"
#include "binary/eh_frame.h"
#include "binary/elf_file.h"
#include "binary/embedded_builtins.h"
#include "binary/symbol_table.h"

namespace {

using namespace nodescope;

void use_views(const ElfFile& file) {
  for (std::size_t i = 0; i < file.section_count(); ++i) (void)file.content(*file.section(i));
  for (std::size_t i = 0; i < file.segment_count(); ++i) (void)file.content(*file.segment(i));
  for (const ElfSymbols& symbols : {file.symtab(), file.dynsym()}) (void)symbols.find("main");
  if (const auto id = file.build_id()) NODESCOPE_CHECK(!id->to_hex().empty());
  if (const auto link = file.debug_link()) NODESCOPE_CHECK(!link->file_name.empty());
}

void use_symbols(const ElfFile& file) {
  const SymbolTable table = SymbolTable::build(file, &file);
  constexpr std::size_t kLookups = 100;
  for (std::size_t i = 0; i < table.size() && i < kLookups; ++i) {
    const Symbol symbol = table[i];
    (void)display_name(symbol);
    (void)table.find(symbol.address + symbol.size_bytes / 2);
  }
}

void use_unwind_table(const ElfFile& file) {
  const UnwindTable table = UnwindTable::build(file);
  constexpr std::size_t kLookups = 100;
  for (std::size_t i = 0; i < table.size() && i < kLookups; ++i) {
    const auto function = table.function(i);
    if (function && function->size_bytes() != 0) (void)table.find(function->end - 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = ElfFile::parse(std::as_bytes(std::span(data, size)));
  if (!file) {
    NODESCOPE_CHECK(!file.error().message.empty());
    return 0;
  }
  use_views(*file);
  use_symbols(*file);
  use_unwind_table(*file);
  (void)find_embedded_builtins(*file);
  return 0;
}
