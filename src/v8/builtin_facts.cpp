#include "v8/builtin_facts.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/flat_map.h"

namespace nodescope::v8 {

namespace {

constexpr std::string_view kPrefix = "Builtins_";
constexpr std::size_t kMinBuiltins = 1000;  // V8 9.4 has 1726
constexpr std::size_t kMaxBuiltins = 10'000;

struct Builtins {
  FlatMap<std::string, FileAddress> by_name;
  std::optional<FileAddress> code;  // of all of them
  std::optional<FileAddress> data;  // their table
};

// Up to V8 10 the symbols of the data themselves end with "data_", and those without are pointers to them.
Builtins read_builtins(const ElfFile& file) {
  Builtins builtins;
  bool is_data_itself = false;
  const ElfSymbols symbols = file.symtab();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const ElfSymbol symbol = symbols[i];
    const std::string_view name = symbols.name(symbol);
    const FileAddress address{symbol.value};
    const bool is_data_data = name == "v8_Default_embedded_blob_data_data_";
    if (name.starts_with(kPrefix) && builtins.by_name.size() < kMaxBuiltins) {
      builtins.by_name.emplace(name.substr(kPrefix.size()), address);
    } else if (name == "v8_Default_embedded_blob_code_data_" ||
               (name == "v8_Default_embedded_blob_code_" && !is_data_itself)) {
      builtins.code = address;
    } else if (is_data_data || (name == "v8_Default_embedded_blob_data_" && !is_data_itself)) {
      builtins.data = address;
    }
    is_data_itself = is_data_itself || is_data_data;
  }
  return builtins;
}

std::uint32_t number_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// The table has an entry for each builtin, by number, which begins with where its code begins.  The rest of
// an entry has changed (EmbeddedData::LayoutDescription in src/snapshot/embedded/embedded-data.h).
constexpr std::size_t kTableHeader = 24;  // three hashes
constexpr std::size_t kEntrySizes[] = {12, 16, 28, 32, 8, 20, 24, 36, 40};

// Empty unless every entry is the beginning of a builtin.
std::vector<std::uint32_t> read_table(std::string_view data, std::size_t entry_size,
                                      const FlatMap<std::uint64_t, bool>& begins, std::size_t count) {
  std::vector<std::uint32_t> table;
  if (data.size() < kTableHeader + count * entry_size) return table;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t begin = number_at(data, kTableHeader + i * entry_size);
    if (!begins.contains(begin)) return {};
    table.push_back(begin);
  }
  return table;
}

void find_numbers(const ElfFile& file, const Builtins& builtins, AsyncLayout& layout) {
  if (!builtins.code || !builtins.data || builtins.by_name.size() < kMinBuiltins) return;
  FlatMap<std::uint64_t, bool> begins;
  for (const auto& [name, address] : builtins.by_name) begins.emplace(address - *builtins.code, true);
  const std::string_view data = as_text(file.content_at(*builtins.data));
  std::vector<std::uint32_t> table;
  for (const std::size_t entry_size : kEntrySizes) {
    table = read_table(data, entry_size, begins, builtins.by_name.size());
    if (!table.empty()) break;
  }
  const auto set = [&](Fact& fact, std::string_view name) {
    const auto builtin = builtins.by_name.find(name);
    if (builtin == builtins.by_name.end()) return;
    const auto at = std::ranges::find(table, builtin->second - *builtins.code);
    if (at != table.end()) fact = {static_cast<std::int32_t>(at - table.begin()), Origin::kCalibration};
  };
  set(layout.builtin_all_element, "PromiseAllResolveElementClosure");
  set(layout.builtin_all_settled_element, "PromiseAllSettledResolveElementClosure");
  set(layout.builtin_any_element, "PromiseAnyRejectElementClosure");
  set(layout.builtin_resolve_promise, "PromiseCapabilityDefaultResolve");
}

// mov [r13 + disp32], r64: the microtask that runs is stored when it begins and cleared when it ends; nothing
// else in this builtin is stored exactly twice.
void find_current_microtask(const ElfFile& file, const Builtins& builtins, AsyncLayout& layout) {
  constexpr std::size_t kMaxBytes = 8192;
  constexpr std::size_t kStoreBytes = 7;
  constexpr unsigned kToR13WithDisplacement = 0x85;  // ModRM, for any source register
  const auto builtin = builtins.by_name.find(std::string_view("RunMicrotasks"));
  if (builtin == builtins.by_name.end()) return;
  std::size_t size = kMaxBytes;
  for (const auto& [name, address] : builtins.by_name) {
    if (address > builtin->second) size = std::min<std::size_t>(size, address - builtin->second);
  }
  const std::string_view code = as_text(file.content_at(builtin->second)).substr(0, size);
  std::vector<std::pair<std::int32_t, int>> stores;
  for (std::size_t i = 0; i + kStoreBytes <= code.size(); ++i) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(code[at]); };
    const bool is_store = (byte(i) == 0x49 || byte(i) == 0x4D) && byte(i + 1) == 0x89 &&
                          (byte(i + 2) & 0xC7u) == kToR13WithDisplacement;
    if (!is_store) continue;
    const auto displacement = static_cast<std::int32_t>(number_at(code, i + 3));
    const auto known = std::ranges::find(stores, displacement, &decltype(stores)::value_type::first);
    if (known == stores.end()) {
      stores.emplace_back(displacement, 1);
    } else {
      ++known->second;
    }
  }
  if (std::ranges::count(stores, 2, &decltype(stores)::value_type::second) != 1) return;
  const auto twice = std::ranges::find(stores, 2, &decltype(stores)::value_type::second);
  layout.root_current_microtask = {twice->first, Origin::kCalibration};
}

}  // namespace

void find_builtin_facts(const ElfFile& file, AsyncLayout& layout) {
  const Builtins builtins = read_builtins(file);
  find_numbers(file, builtins, layout);
  find_current_microtask(file, builtins, layout);
}

}  // namespace nodescope::v8
