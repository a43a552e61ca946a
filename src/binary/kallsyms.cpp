#include "binary/kallsyms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/line_reader.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kPageBytes = 4096;

// Names in the kernel have at most 511 bytes.
constexpr std::size_t kMaxNameBytes = 4096;

struct Line {
  std::uint64_t address = 0;
  char type = 0;
  std::string_view name;
  std::string_view module;
};

// "ffffffffc0a81000 t nft_do_chain\t[nf_tables]"
std::optional<Line> split(std::string_view text) {
  const std::size_t type = text.find(' ') + 1;
  if (type == 0 || text.size() < type + 3 || text[type + 1] != ' ') return std::nullopt;
  const auto address = parse_hex(text.substr(0, type - 1));
  if (!address) return std::nullopt;
  Line line{*address, text[type], text.substr(type + 2), {}};
  if (const std::size_t tab = line.name.find('\t'); tab != std::string_view::npos) {
    const std::string_view module = line.name.substr(tab + 1);
    if (!module.starts_with('[') || !module.ends_with(']')) return std::nullopt;
    line.module = module.substr(1, module.size() - 2);
    line.name = line.name.substr(0, tab);
  }
  if (line.name.empty() || line.name.size() > kMaxNameBytes || line.module.size() > kMaxNameBytes)
    return std::nullopt;
  return line;
}

std::uint64_t end_of_next_page(std::uint64_t address) {
  const std::uint64_t last = address | (kPageBytes - 1);
  return last > UINT64_MAX - kPageBytes - 1 ? UINT64_MAX : last + 1 + kPageBytes;
}

bool is_code(char type) {
  return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

}  // namespace

Result<KernelSymbols> KernelSymbols::read(ByteSource& source, Diagnostics& diagnostics) {
  KernelSymbols symbols;
  LineReader lines(source, nullptr);
  bool any_address = false;
  std::size_t number = 0;
  for (;;) {
    const auto block = lines.next();
    if (!block) return std::unexpected(block.error());
    if (!*block) break;
    if ((*block)->offset > kMaxBytes)
      return fail(ErrorCode::kLimit, fmt::format("{}: larger than {} MB", source.name(), kMaxBytes >> 20));
    for (std::size_t i = 0; i < (*block)->size(); ++i) {
      ++number;
      if ((*block)->is_empty(i)) continue;
      const auto line = split((*block)->line(i));
      if (!line) {
        diagnostics.warn("line of kernel symbols not understood",
                         fmt::format("{} line {}", source.name(), number));
        continue;
      }
      if (!is_code(line->type)) continue;
      any_address |= line->address != 0;
      symbols.add(line->address, line->name, line->module);
    }
  }
  if (!symbols.entries_.empty() && !any_address) {
    symbols.addresses_hidden_ = true;
    symbols.entries_.clear();
    diagnostics.warn(
        "kernel symbols are hidden from this user: run as root, or set kernel.kptr_restrict to 0",
        source.name());
  }
  symbols.index();
  return symbols;
}

void KernelSymbols::add(std::uint64_t address, std::string_view name, std::string_view module) {
  const auto keep = [this](std::string_view text) {
    names_->append(text);
    return static_cast<std::uint32_t>(names_->size() - text.size());
  };
  const std::uint32_t name_at = keep(name);
  // The functions of a module follow one another.
  const bool same_module = !entries_.empty() && module_of(entries_.back()) == module;
  const std::uint32_t module_at = same_module ? entries_.back().module : keep(module);
  entries_.push_back({address, 0, name_at, module_at, static_cast<std::uint16_t>(name.size()),
                      static_cast<std::uint16_t>(module.size())});
}

void KernelSymbols::index() {
  const auto place = [](const Entry& entry) { return std::pair(entry.begin, entry.name); };
  if (!std::ranges::is_sorted(entries_, {}, place)) std::ranges::sort(entries_, {}, place);
  begins_.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const bool last = i + 1 == entries_.size();
    const bool last_of_module = last || module_of(entries_[i + 1]) != module_of(entry);
    const std::uint64_t page_end = end_of_next_page(entry.begin);
    const std::uint64_t next = last ? page_end : entries_[i + 1].begin;
    entry.end = last_of_module ? std::min(next, page_end) : next;
    begins_.push_back(entry.begin);
  }
}

// Of several names for one address the last counts, as with perf.
std::optional<KernelSymbol> KernelSymbols::find(Address address) const {
  const auto after = std::ranges::upper_bound(begins_, address.value);
  if (after == begins_.begin()) return std::nullopt;
  const auto index = static_cast<std::size_t>(after - begins_.begin()) - 1;
  if (address.value >= entries_[index].end) return std::nullopt;
  return (*this)[index];
}

std::optional<Address> KernelSymbols::address_of(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.module_size == 0 && name_of(entry) == name) return Address{entry.begin};
  }
  return std::nullopt;
}

KernelSymbol KernelSymbols::operator[](std::size_t index) const {
  NODESCOPE_CHECK(index < entries_.size());
  const Entry& entry = entries_[index];
  return {Address{entry.begin}, name_of(entry), module_of(entry)};
}

}  // namespace nodescope
