#include "v8/metadata.h"

#include <algorithm>
#include <cstring>

namespace nodescope::v8 {

namespace {

constexpr std::string_view kPrefix = "v8dbg_";
constexpr std::size_t kMaxEntries = 65536;  // V8 has some 500
// Offsets, types and masks of V8 are smaller; what a damaged binary claims may not overflow where it is
// added.
constexpr std::int32_t kMaxValue = (1 << 30) - 1;

std::int32_t value_at(const ElfFile& file, FileAddress address) {
  const auto content = file.content_at(address);
  std::int32_t value = 0;  // a symbol of .bss
  if (content.size() >= sizeof value) std::memcpy(&value, content.data(), sizeof value);
  return value;
}

}  // namespace

Metadata Metadata::read(const ElfFile& file) {
  Metadata metadata;
  const ElfSymbols symbols = file.dynsym();
  for (std::size_t i = 0; i < symbols.size() && metadata.entries_.size() < kMaxEntries; ++i) {
    const ElfSymbol symbol = symbols[i];
    const std::string_view name = symbols.name(symbol);
    if (symbol.section == 0 || !name.starts_with(kPrefix)) continue;
    const std::int32_t value = value_at(file, FileAddress{symbol.value});
    if (value < -kMaxValue || value > kMaxValue) continue;
    metadata.entries_.emplace_back(name.substr(kPrefix.size()), value);
  }
  std::ranges::sort(metadata.entries_);
  return metadata;
}

std::optional<std::int32_t> Metadata::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(entries_, name, {}, &Entry::first);
  if (found == entries_.end()) return std::nullopt;
  const bool same = name.ends_with("__") ? found->first.starts_with(name) : found->first == name;
  return same ? std::optional(found->second) : std::nullopt;
}

std::span<const Metadata::Entry> Metadata::with_prefix(std::string_view prefix) const {
  const auto begin = std::ranges::lower_bound(entries_, prefix, {}, &Entry::first);
  const auto end = std::find_if_not(begin, entries_.end(),
                                    [&](const Entry& entry) { return entry.first.starts_with(prefix); });
  return {begin, end};
}

}  // namespace nodescope::v8
