#include "binary/kallsyms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
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
  const auto bytes = read_whole(source, *symbols.text_, kMaxBytes);
  if (!bytes) return std::unexpected(bytes.error());
  if (symbols.text_->empty()) *symbols.text_ = as_text(*bytes);
  const std::string_view text = *symbols.text_;
  const auto offset_of = [&](std::string_view part) {
    return static_cast<std::uint32_t>(part.data() - text.data());
  };
  bool any_address = false;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (part.empty()) continue;
    const auto line = split(part);
    if (!line) {
      diagnostics.warn("line of kernel symbols not understood",
                       fmt::format("{} line {}", source.name(), number));
      continue;
    }
    if (!is_code(line->type)) continue;
    any_address |= line->address != 0;
    symbols.entries_.push_back(
        {line->address, 0, offset_of(line->name), line->module.empty() ? 0 : offset_of(line->module),
         static_cast<std::uint16_t>(line->name.size()), static_cast<std::uint16_t>(line->module.size())});
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

// Of several names for one address the last is kept, as perf does.
void KernelSymbols::index() {
  const auto place = [](const Entry& entry) { return std::pair(entry.begin, entry.name); };
  if (!std::ranges::is_sorted(entries_, {}, place)) std::ranges::sort(entries_, {}, place);
  std::size_t kept = 0;
  for (const Entry& entry : entries_) {
    if (kept == 0 || entries_[kept - 1].begin != entry.begin) ++kept;
    entries_[kept - 1] = entry;
  }
  entries_.resize(kept);
  begins_.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i) {
    Entry& entry = entries_[i];
    const bool last_of_module = i + 1 == kept || module_of(entries_[i + 1]) != module_of(entry);
    const std::uint64_t page_end = end_of_next_page(entry.begin);
    const std::uint64_t next = i + 1 < kept ? entries_[i + 1].begin : page_end;
    entry.end = last_of_module ? std::min(next, page_end) : next;
    begins_.push_back(entry.begin);
  }
}

std::optional<KernelSymbol> KernelSymbols::find(Address address) const {
  const auto after = std::ranges::upper_bound(begins_, address.value);
  if (after == begins_.begin()) return std::nullopt;
  const auto index = static_cast<std::size_t>(after - begins_.begin()) - 1;
  if (address.value >= entries_[index].end) return std::nullopt;
  return (*this)[index];
}

// In the text, because of several names for one address only one is kept.
std::optional<Address> KernelSymbols::address_of(std::string_view name) const {
  const std::string_view text = *text_;
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t begin = text.rfind('\n', at) + 1;
    const auto line = split(text.substr(begin, std::min(text.find('\n', at), text.size()) - begin));
    if (line && line->name == name && line->module.empty() && !addresses_hidden_)
      return Address{line->address};
  }
  return std::nullopt;
}

KernelSymbol KernelSymbols::operator[](std::size_t index) const {
  NODESCOPE_CHECK(index < entries_.size());
  const Entry& entry = entries_[index];
  return {Address{entry.begin}, name_of(entry), module_of(entry)};
}

}  // namespace nodescope
