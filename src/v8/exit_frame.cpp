#include "v8/exit_frame.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/byte_source.h"

namespace nodescope::v8 {

namespace {

constexpr std::string_view kCurrentIsolate = "_ZN2v88internal18g_current_isolate_E";
constexpr std::string_view kExitBuiltin = "Builtins_CEntry_Return1";
constexpr std::uint32_t kThreadLocalSegment = 7;  // PT_TLS

// The root register points this far behind the beginning of the Isolate (kRootRegisterBias).
constexpr std::uint64_t kRootBias = 128;

// The variables of the program itself, which is the first module, end at the thread pointer.
std::optional<std::uint64_t> isolate_below_thread_pointer(const ElfFile& binary) {
  if (!binary.find_segment(3)) return std::nullopt;  // PT_INTERP: only programs have one
  const auto segment = binary.find_segment(kThreadLocalSegment);
  const auto symbol = binary.symtab().find(kCurrentIsolate);
  if (!segment || !symbol || segment->memory_bytes > INT32_MAX || symbol->value >= segment->memory_bytes)
    return std::nullopt;
  const std::uint64_t alignment = std::max<std::uint64_t>(segment->alignment, 1);
  if (alignment > 4096) return std::nullopt;
  const std::uint64_t size = (segment->memory_bytes + alignment - 1) / alignment * alignment;
  return size - symbol->value;
}

// On its way out this builtin stores rbp: mov [r13 + displacement], rbp.
std::optional<std::int32_t> stored_frame_pointer(const ElfFile& binary) {
  constexpr std::string_view kStore = "\x49\x89\xad";
  constexpr std::size_t kMaxBytes = 256;
  const ElfSymbols symbols = binary.symtab();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const ElfSymbol symbol = symbols[i];
    if (!symbols.name(symbol).starts_with(kExitBuiltin)) continue;
    const std::string_view code = as_text(binary.content_at(FileAddress{symbol.value})).substr(0, kMaxBytes);
    const std::size_t at = code.find(kStore);
    if (at == std::string_view::npos || at + kStore.size() + 4 > code.size()) continue;
    std::int32_t displacement = 0;
    std::memcpy(&displacement, code.data() + at + kStore.size(), sizeof displacement);
    return displacement;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ExitFrames> ExitFrames::find(const ElfFile& binary) {
  const auto isolate = isolate_below_thread_pointer(binary);
  const auto displacement = isolate ? stored_frame_pointer(binary) : std::nullopt;
  if (!displacement) return std::nullopt;
  return ExitFrames(*isolate, *displacement);
}

std::optional<Address> ExitFrames::root(Memory& memory, std::uint64_t thread_pointer) const {
  const auto isolate = memory.load<std::uint64_t>(Address{thread_pointer - below_thread_pointer_});
  if (!isolate || *isolate == 0) return std::nullopt;
  return Address{*isolate + kRootBias};
}

std::optional<Address> ExitFrames::newest(Memory& memory, std::uint64_t thread_pointer) const {
  const auto root = this->root(memory, thread_pointer);
  if (!root) return std::nullopt;
  const Address place = *root + static_cast<std::uint64_t>(std::int64_t{from_root_});
  const auto frame_pointer = memory.load<std::uint64_t>(place);
  if (!frame_pointer || *frame_pointer == 0 || *frame_pointer % 8 != 0) return std::nullopt;
  return Address{*frame_pointer};
}

}  // namespace nodescope::v8
