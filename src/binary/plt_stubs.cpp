#include "binary/plt_stubs.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <span>

#include "base/byte_reader.h"
#include "base/flat_map.h"

namespace nodescope {

namespace {

constexpr std::size_t kStubBytes = 16;  // on both machines, by every linker

template <typename T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// [endbr64] [bnd] jmp *disp32(%rip)
std::optional<FileAddress> slot_of_x86_64_stub(std::span<const std::byte> stub, FileAddress address) {
  std::size_t at = load<std::uint32_t>(stub, 0) == 0xFA1E0FF3u ? 4 : 0;
  if (stub[at] == std::byte{0xF2}) ++at;
  if (load<std::uint16_t>(stub, at) != 0x25FFu) return std::nullopt;
  const auto displacement = load<std::int32_t>(stub, at + 2);
  return address + at + 6 + static_cast<std::uint64_t>(std::int64_t{displacement});
}

// [bti c] adrp x16, page; ldr x17, [x16, #offset]
std::optional<FileAddress> slot_of_aarch64_stub(std::span<const std::byte> stub, FileAddress address) {
  const std::size_t at = load<std::uint32_t>(stub, 0) == 0xD503245Fu ? 4 : 0;
  const auto adrp = load<std::uint32_t>(stub, at);
  const auto ldr = load<std::uint32_t>(stub, at + 4);
  if ((adrp & 0x9F00001Fu) != 0x90000010u || (ldr & 0xFFC003FFu) != 0xF9400211u) return std::nullopt;
  const std::uint64_t pages = (adrp >> 29 & 3u) | (adrp >> 5 & 0x7FFFFu) << 2;
  const auto page_delta = static_cast<std::uint64_t>(static_cast<std::int64_t>(pages << 43) >> 31);
  const std::uint64_t page = (address.value + at) & ~std::uint64_t{0xFFF};
  return FileAddress{page + page_delta + std::uint64_t{ldr >> 10 & 0xFFFu} * 8};
}

using Slots = FlatMap<std::uint64_t, std::uint32_t>;  // address in the GOT -> name

Slots slots_of(const ElfFile& binary) {
  Slots slots;
  const auto relocations = binary.find_section(".rela.plt");
  if (!relocations) return slots;
  const ElfSymbols symbols = binary.dynsym();
  ByteReader reader(binary.content(*relocations));
  while (const auto relocation = reader.read<Elf64_Rela>()) {
    const std::uint64_t index = ELF64_R_SYM(relocation->r_info);
    if (index != 0 && index < symbols.size()) slots.emplace(relocation->r_offset, symbols[index].name);
  }
  return slots;
}

}  // namespace

std::vector<PltStub> find_plt_stubs(const ElfFile& binary) {
  std::vector<PltStub> stubs;
  const Slots slots = slots_of(binary);
  if (slots.empty()) return stubs;
  const auto slot_of = binary.machine() == Machine::kX86_64 ? slot_of_x86_64_stub : slot_of_aarch64_stub;
  for (const std::string_view name : {".plt", ".plt.sec"}) {
    const auto section = binary.find_section(name);
    if (!section) continue;
    const auto code = binary.content(*section);
    for (std::size_t at = 0; at + kStubBytes <= code.size(); at += kStubBytes) {
      const FileAddress address = section->address + at;
      const auto slot = slot_of(code.subspan(at, kStubBytes), address);
      const auto found = slot ? slots.find(slot->value) : slots.end();
      if (found != slots.end()) stubs.push_back({address, kStubBytes, found->second});
    }
  }
  return stubs;
}

}  // namespace nodescope
