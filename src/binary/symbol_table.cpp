#include "binary/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/check.h"
#include "binary/demangle.h"
#include "binary/plt_stubs.h"

namespace nodescope {

namespace {

// Names are looked at only to choose between aliases.  Large binaries have some thousand of them; this is
// enough for a hundred thousand, and a hostile table cannot make us demangle for hours.  Beyond it the first
// alias wins.
constexpr std::size_t kAliasNameBudgetBytes = 8 << 20;

constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > kNoEnd - b ? kNoEnd : a + b;
}

// aarch64 marks code and data within sections by symbols such as $x and $d.123.
bool is_mapping_symbol(std::string_view name) {
  return name.size() >= 2 && name[0] == '$' && std::string_view("adtx").contains(name[1]) &&
         (name.size() == 2 || name[2] == '.');
}

// Two forms of one constructor or destructor, "…C1E…" and "…C2E…": most aliases of a C++ program are of this
// kind, and to a reader both have the same name.
bool are_forms_of_one(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  if (in_a == a.end() || in_a == a.begin()) return false;
  const char kind = *(in_a - 1);
  const auto is_form = [](char c) { return c >= '0' && c <= '3'; };
  return (kind == 'C' || kind == 'D') && is_form(*in_a) && is_form(*in_b) &&
         std::ranges::equal(in_a + 1, a.end(), in_b + 1, b.end());
}

// What the builder wants to know of a section by its index.
struct SectionUse {
  std::uint64_t end = 0;
  bool allocated = false;
  bool executable = false;
};

std::vector<SectionUse> section_uses(const ElfFile& file) {
  // A symbol has 16 bits for the index.
  const std::size_t count = std::min<std::size_t>(file.section_count(), SHN_LORESERVE);
  std::vector<SectionUse> uses;
  uses.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const ElfSection section = *file.section(i);
    uses.push_back({saturating_add(section.address.value, section.size_bytes), section.allocated(),
                    section.executable()});
  }
  return uses;
}

}  // namespace

// Collects candidates, sorts them, chooses between aliases, gives ends to those without, and cuts the
// overlaps.
class SymbolTableBuilder {
 public:
  void add_symbols(const ElfFile& file, ElfSymbols symbols) {
    table_.symbol_names_ = symbols;
    sections_ = section_uses(file);
    const std::size_t count = std::min(symbols.size(), SymbolTable::kMaxSymbols);
    for (std::size_t i = 0; i < count; ++i) {
      const ElfSymbol symbol = symbols[i];
      if (is_code(file, symbol)) add(symbol);
    }
  }

  void add_stubs(const ElfFile& binary) {
    table_.stub_names_ = binary.dynsym();
    for (const PltStub& stub : find_plt_stubs(binary)) {
      candidates_.push_back({stub.address.value, stub.address.value + stub.size_bytes, stub.name,
                             next_order(), SHN_UNDEF, SymbolTable::Source::kPltStub, STB_GLOBAL});
    }
  }

  SymbolTable build() {
    std::ranges::sort(candidates_, {}, [](const Candidate& c) { return std::pair(c.address, c.order); });
    drop_aliases();
    close_open_ends();
    cut_overlaps();
    return std::move(table_);
  }

 private:
  struct Candidate {
    std::uint64_t address;
    std::uint64_t end;  // == address: unknown
    std::uint32_t name;
    std::uint32_t order;  // in the file
    std::uint16_t section;
    SymbolTable::Source source;
    std::uint8_t binding;
  };

  bool is_code(const ElfFile& file, const ElfSymbol& symbol) const {
    if (symbol.section == SHN_UNDEF || symbol.name == 0) return false;
    const bool section_known = symbol.section < sections_.size();
    switch (symbol.type()) {
      case STT_FUNC:
      case STT_GNU_IFUNC:
        return !section_known || sections_[symbol.section].allocated;
      case STT_OBJECT:  // V8 marks parts of its embedded builtins so
        return section_known && sections_[symbol.section].executable;
      case STT_NOTYPE:
        return section_known && sections_[symbol.section].executable && symbol.visibility() != STV_HIDDEN &&
               symbol.visibility() != STV_INTERNAL &&
               (file.machine() != Machine::kAarch64 || !is_mapping_symbol(table_.symbol_names_.name(symbol)));
      default:
        return false;
    }
  }

  void add(const ElfSymbol& symbol) {
    candidates_.push_back({symbol.value, saturating_add(symbol.value, symbol.size_bytes), symbol.name,
                           next_order(), symbol.section, SymbolTable::Source::kSymbols, symbol.binding()});
  }

  std::uint32_t next_order() const { return static_cast<std::uint32_t>(candidates_.size()); }

  std::string_view name_of(const Candidate& candidate) const {
    const bool stub = candidate.source == SymbolTable::Source::kPltStub;
    return (stub ? table_.stub_names_ : table_.symbol_names_).name_at(candidate.name);
  }

  // Keeps the best of each run of equal addresses; of equals the first in the file.
  void drop_aliases() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (kept != 0 && candidates_[kept - 1].address == candidates_[i].address) {
        if (is_better(candidates_[i], candidates_[kept - 1])) candidates_[kept - 1] = candidates_[i];
      } else {
        candidates_[kept++] = candidates_[i];
      }
    }
    candidates_.resize(kept);
  }

  bool is_better(const Candidate& a, const Candidate& b) {
    const bool a_sized = a.end != a.address;
    const bool b_sized = b.end != b.address;
    if (a_sized != b_sized) return a_sized;
    const bool a_weak = a.binding == STB_WEAK;
    const bool b_weak = b.binding == STB_WEAK;
    if (a_weak != b_weak) return b_weak;
    const bool a_global = a.binding == STB_GLOBAL;
    const bool b_global = b.binding == STB_GLOBAL;
    if (a_global != b_global) return a_global;
    return has_better_name(a, b);
  }

  bool has_better_name(const Candidate& a, const Candidate& b) {
    const std::string_view a_mangled = name_of(a);
    const std::string_view b_mangled = name_of(b);
    if (are_forms_of_one(a_mangled, b_mangled)) return false;
    const std::size_t cost = a_mangled.size() + b_mangled.size();
    if (cost > name_budget_) return false;
    name_budget_ -= cost;
    const std::string a_name = demangle(a_mangled);
    const std::string b_name = demangle(b_mangled);
    const auto underscores = [](std::string_view name) {
      return std::min(name.find_first_not_of('_'), name.size());
    };
    if (underscores(a_name) != underscores(b_name)) return underscores(a_name) < underscores(b_name);
    return a_name.size() > b_name.size();
  }

  // A label inside of a function that has a size stays empty.
  void close_open_ends() {
    std::uint64_t covered = 0;  // by a sized symbol that begins before
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      Candidate& candidate = candidates_[i];
      if (candidate.end != candidate.address) {
        covered = std::max(covered, candidate.end);
      } else if (candidate.address >= covered) {
        const std::uint64_t next = i + 1 < candidates_.size() ? candidates_[i + 1].address : kNoEnd;
        const std::uint64_t limit =
            candidate.section < sections_.size() ? sections_[candidate.section].end : kNoEnd;
        candidate.end = std::max(candidate.address, std::min(next, limit));
      }
    }
  }

  // Sweeps over the addresses with a stack of the symbols that are open there.  Each is pushed and popped
  // once and ends at most one piece besides its own, so there are at most twice as many pieces as symbols.
  void cut_overlaps() {
    table_.begins_.reserve(candidates_.size());
    table_.pieces_.reserve(candidates_.size());
    for (const Candidate& candidate : candidates_) {
      if (candidate.end == candidate.address) continue;
      give_out_up_to(candidate.address);
      given_out_ = candidate.address;
      open_.push_back(&candidate);
    }
    give_out_up_to(kNoEnd);
  }

  void give_out_up_to(std::uint64_t address) {
    while (!open_.empty()) {
      const Candidate& innermost = *open_.back();
      const std::uint64_t end = std::min(innermost.end, address);
      if (given_out_ < end) {
        table_.begins_.push_back(given_out_);
        table_.pieces_.push_back({innermost.address, innermost.end, end, innermost.name, innermost.source});
        given_out_ = end;
      }
      if (innermost.end > address) return;
      open_.pop_back();
    }
  }

  SymbolTable table_;
  std::vector<SectionUse> sections_;
  std::vector<Candidate> candidates_;
  std::vector<const Candidate*> open_;
  std::uint64_t given_out_ = 0;  // every address below belongs to its piece already
  std::size_t name_budget_ = kAliasNameBudgetBytes;
};

std::string display_name(const Symbol& symbol) {
  std::string name = demangle(symbol.name);
  if (symbol.is_plt_stub) name += "@plt";
  return name;
}

SymbolTable SymbolTable::build(const ElfFile& binary, const ElfFile* debug) {
  SymbolTableBuilder builder;
  if (const ElfSymbols symbols = debug != nullptr ? debug->symtab() : ElfSymbols{}; !symbols.empty()) {
    builder.add_symbols(*debug, symbols);
  } else if (const ElfSymbols own = binary.symtab(); !own.empty()) {
    builder.add_symbols(binary, own);
  } else {
    builder.add_symbols(binary, binary.dynsym());
  }
  builder.add_stubs(binary);
  return builder.build();
}

std::optional<Symbol> SymbolTable::find(FileAddress address) const {
  const auto after = std::ranges::upper_bound(begins_, address.value);
  if (after == begins_.begin()) return std::nullopt;
  const auto index = static_cast<std::size_t>(after - begins_.begin()) - 1;
  if (address.value >= pieces_[index].end) return std::nullopt;
  return (*this)[index];
}

Symbol SymbolTable::operator[](std::size_t index) const {
  NODESCOPE_CHECK(index < pieces_.size());
  const Piece& piece = pieces_[index];
  const bool is_stub = piece.source == Source::kPltStub;
  const std::string_view name = (is_stub ? stub_names_ : symbol_names_).name_at(piece.name);
  return {FileAddress{piece.symbol_address}, piece.symbol_end - piece.symbol_address, name, is_stub};
}

std::size_t SymbolTable::memory_bytes() const {
  return begins_.capacity() * sizeof(begins_[0]) + pieces_.capacity() * sizeof(pieces_[0]);
}

}  // namespace nodescope
