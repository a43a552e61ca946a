#include "target/loop_accounts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace nodescope {

namespace {

// More than the beginning of these functions has.
constexpr std::size_t kCodeBytes = 64;

// uv__loop_internal_fields_t begins with its flags; the account follows, after the counters of uv_metrics_t
// (16 words) since these exist.  Read from libuv's src/uv-common.h of 1.39, 1.44, 1.45 and 1.51.
constexpr std::uint32_t kMetricsIdleTime = 1;
constexpr std::uint32_t kAllFlags = 7;
constexpr std::size_t kCountOffset = 8;
constexpr std::size_t kOldAccountOffset = 8;
constexpr std::size_t kAccountOffset = 8 + 16 * 8;

template <typename T>
std::optional<T> load(std::span<const std::byte> bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::uint8_t byte_at(std::span<const std::byte> code, std::size_t i) {
  return i < code.size() ? std::to_integer<std::uint8_t>(code[i]) : 0;
}

std::span<const std::byte> code_of(const ElfFile& file, const std::optional<ElfSymbol>& symbol) {
  if (!symbol) return {};
  const auto code = file.content_at(FileAddress{symbol->value});
  return code.first(std::min(code.size(), kCodeBytes));
}

}  // namespace

std::optional<FileAddress> loaded_address(std::span<const std::byte> code, FileAddress begin) {
  // REX.W or REX.WR, 8B, ModRM with mod 00 and rm 101: relative to the next instruction.
  constexpr std::size_t kLength = 7;
  for (std::size_t i = 0; i + kLength <= code.size(); ++i) {
    const std::uint8_t prefix = byte_at(code, i);
    if ((prefix != 0x48 && prefix != 0x4C) || byte_at(code, i + 1) != 0x8B) continue;
    if ((byte_at(code, i + 2) & 0xC7) != 0x05) continue;
    const auto distance = load<std::int32_t>(code, i + 3);
    if (!distance) return std::nullopt;
    return begin + (i + kLength) + static_cast<std::uint64_t>(static_cast<std::int64_t>(*distance));
  }
  return std::nullopt;
}

std::optional<std::uint32_t> returned_constant(std::span<const std::byte> code) {
  constexpr std::size_t kLast = 12;
  for (std::size_t i = 0; i < std::min(code.size(), kLast); ++i) {
    if (byte_at(code, i) == 0xB8) return load<std::uint32_t>(code, i + 1);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> loaded_member(std::span<const std::byte> code) {
  constexpr std::size_t kLast = 12;
  for (std::size_t i = 0; i < std::min(code.size(), kLast); ++i) {
    const bool is_load = byte_at(code, i) == 0x48 && byte_at(code, i + 1) == 0x8B;
    if (is_load && byte_at(code, i + 2) == 0x87) return load<std::uint32_t>(code, i + 3);
    if (is_load && byte_at(code, i + 2) == 0x47) return load<std::uint8_t>(code, i + 3);
  }
  return std::nullopt;
}

std::optional<LoopSymbols> find_loop_symbols(const ElfFile& file) {
  constexpr auto kNames = std::to_array<std::string_view>({"uv_default_loop", "uv_now", "uv_version"});
  std::array<std::optional<ElfSymbol>, kNames.size()> found;
  if (file.machine() != Machine::kX86_64) return std::nullopt;
  const ElfSymbols symbols = file.dynsym();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const ElfSymbol symbol = symbols[i];
    if (symbol.section == 0) continue;
    const auto name = std::ranges::find(kNames, symbols.name(symbol));
    if (name != kNames.end()) found[static_cast<std::size_t>(name - kNames.begin())] = symbol;
  }
  const auto pointer = found[0] ? loaded_address(code_of(file, found[0]), FileAddress{found[0]->value})
                                : std::optional<FileAddress>();
  const auto time = loaded_member(code_of(file, found[1]));
  const auto version = returned_constant(code_of(file, found[2]));
  if (!pointer || !time || !version) return std::nullopt;
  const LoopSymbols result{{*version, *time}, *pointer};
  // A uv_loop_t has less than 1 KB.
  constexpr std::uint64_t kMaxLoopBytes = 1024;
  return result.layout.is_known() && *time < kMaxLoopBytes ? std::optional(result) : std::nullopt;
}

std::optional<LoopHead> parse_loop_head(std::span<const std::byte> bytes) {
  const auto fields = load<std::uint64_t>(bytes, kLoopFields);
  const auto backend = load<std::int32_t>(bytes, kLoopBackend);
  const auto handle = load<std::uint64_t>(bytes, kLoopHandles);
  if (!fields || !backend || *fields == 0 || *fields % 8 != 0 || *backend < 0) return std::nullopt;
  return LoopHead{Address{*fields}, *backend, Address{*handle}};
}

bool has_own_handle(std::span<const std::byte> body, Address loop) {
  for (std::size_t i = kLoopHeadBytes; i + 8 <= body.size(); i += 8) {
    if (load<std::uint64_t>(body, i) == loop.value) return true;
  }
  return false;
}

std::size_t account_bytes(const LoopLayout& layout) {
  return (layout.counts_turns() ? kAccountOffset : kOldAccountOffset) + 16;
}

std::optional<LoopAccount> parse_account(const LoopLayout& layout, std::span<const std::byte> bytes) {
  const auto flags = load<std::uint32_t>(bytes, 0);
  const std::size_t offset = layout.counts_turns() ? kAccountOffset : kOldAccountOffset;
  const auto asleep = load<std::uint64_t>(bytes, offset);
  const auto idle = load<std::uint64_t>(bytes, offset + 8);
  if (!flags || !asleep || !idle) return std::nullopt;
  if ((*flags & kMetricsIdleTime) == 0 || (*flags & ~kAllFlags) != 0) return std::nullopt;
  LoopAccount account{0, *asleep, *idle};
  if (layout.counts_turns()) account.turn = load<std::uint64_t>(bytes, kCountOffset).value_or(0);
  return account;
}

}  // namespace nodescope
