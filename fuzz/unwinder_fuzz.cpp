// The input: the size of an ELF file (32 bits), the file, 17 registers, the stack.  The same ELF file is
// native code at one address and V8's code at another.
#include <cstdint>
#include <span>

#include "base/byte_reader.h"
#include "base/check.h"
#include "binary/elf_file.h"
#include "binary/unwinder.h"

namespace {

using namespace nodescope;

constexpr std::uint64_t kBias = 0x10000000;
constexpr Range<Address> kFramed{Address{0x2000}, Address{0x200000}};

class FuzzedCode final : public CodeMap {
 public:
  explicit FuzzedCode(const ElfFile& file) : file_(file), table_(UnwindTable::build(file)) {}

  CodeRegion find(Address pc) override {
    if (kFramed.contains(pc)) return {CodeKind::kFramed, kFramed, nullptr, 0};
    if (pc.value >= kBias)
      return {CodeKind::kNative, {Address{kBias}, Address{~std::uint64_t{0}}}, &table_, kBias};
    return {CodeKind::kUnknown, {pc, pc + 1}, nullptr, 0};
  }
  std::span<const std::byte> code(Range<Address> range) override {
    const auto bytes = file_.bytes();
    const std::uint64_t offset = range.begin - kFramed.begin;
    if (!kFramed.contains(range.begin) || offset >= bytes.size()) return {};
    const auto rest = bytes.subspan(static_cast<std::size_t>(offset));
    return rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(rest.size(), range.size_bytes())));
  }
  std::optional<Address> function_begin(Address pc) override {
    return pc.value % 2 == 0 ? std::optional(Address{pc.value & ~std::uint64_t{0xFF}}) : std::nullopt;
  }

 private:
  const ElfFile& file_;
  UnwindTable table_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteReader reader(std::as_bytes(std::span(data, size)));
  const auto elf_size = reader.read<std::uint32_t>();
  const auto elf = elf_size ? reader.take(*elf_size) : std::nullopt;
  if (!elf) return 0;
  const auto file = ElfFile::parse(*elf);
  if (!file) return 0;
  RegisterSet registers;
  for (std::size_t i = 0; i < kRegisterCount; ++i) {
    if (const auto value = reader.read<std::uint64_t>()) registers.set(static_cast<Register>(i), *value);
  }
  const auto stack = reader.take(reader.remaining()).value_or(std::span<const std::byte>{});
  FuzzedCode code(*file);
  Unwinder unwinder;
  const Address begin{registers.get(Register::kRsp).value_or(0)};
  const UnwoundStack unwound = unwinder.unwind(registers, {begin, stack}, code);
  NODESCOPE_CHECK(unwound.pcs.size() <= Unwinder::kMaxFrames);
  return 0;
}
