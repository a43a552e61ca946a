#include "binary/embedded_builtins.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "binary/eh_frame.h"

namespace nodescope {

namespace {

// Of the versions 9 to 14 of V8 the builtins have 1.2 to 2.2 MB, more than 1300 of them with a frame.
constexpr std::uint64_t kMinGapBytes = std::uint64_t{512} * 1024;
constexpr std::size_t kMinPrologues = 300;
constexpr std::size_t kMaxGaps = 64;

std::optional<std::uint32_t> load_u32(const ElfFile& binary, FileAddress address) {
  const auto bytes = binary.content_at(address);
  if (bytes.size() < sizeof(std::uint32_t)) return std::nullopt;
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

bool is_executable(const ElfFile& binary, Range<FileAddress> range) {
  return std::ranges::any_of(binary.loads(), [&](const ElfSegment& load) {
    return load.executable() && load.in_memory().contains(range.begin) && range.end <= load.in_memory().end;
  });
}

// Before V8 11 v8_Default_embedded_blob_code_ is a pointer to the code, ..._code_data_ the code itself.
std::optional<Range<FileAddress>> find_by_symbols(const ElfFile& binary) {
  const ElfSymbols symbols = binary.symtab();
  const auto size_symbol = symbols.find("v8_Default_embedded_blob_code_size_");
  if (!size_symbol) return std::nullopt;
  auto code = symbols.find("v8_Default_embedded_blob_code_data_");
  if (!code) code = symbols.find("v8_Default_embedded_blob_code_");
  const auto size = load_u32(binary, FileAddress{size_symbol->value});
  if (!code || !size || *size == 0) return std::nullopt;
  const Range<FileAddress> range{FileAddress{code->value}, FileAddress{code->value} + *size};
  return is_executable(binary, range) ? std::optional(range) : std::nullopt;
}

// The largest pieces of executable memory that .eh_frame says nothing about.
std::vector<Range<FileAddress>> find_gaps(const ElfFile& binary) {
  const UnwindTable table = UnwindTable::build(binary);
  std::vector<Range<FileAddress>> gaps;
  FileAddress end;
  for (std::size_t i = 0; i < table.size() && gaps.size() < kMaxGaps; ++i) {
    const auto function = table.function(i);
    if (!function) continue;
    const Range<FileAddress> gap{end, function->begin};
    if (gap.size_bytes() >= kMinGapBytes && is_executable(binary, gap)) gaps.push_back(gap);
    end = std::max(end, function->end);
  }
  return gaps;
}

// `push rbp; mov rbp, rsp` as V8 writes it; other assembly code that lacks unwind rules has few of them.
std::size_t count_prologues(std::span<const std::byte> code) {
  constexpr std::array kPrologue = {std::byte{0x55}, std::byte{0x48}, std::byte{0x89}, std::byte{0xE5}};
  std::size_t count = 0;
  while (true) {
    const auto found = std::ranges::search(code, kPrologue);
    if (found.empty()) return count;
    ++count;
    code = code.subspan(static_cast<std::size_t>(found.end() - code.begin()));
  }
}

std::optional<Range<FileAddress>> find_by_gap(const ElfFile& binary) {
  std::optional<Range<FileAddress>> best;
  std::size_t best_count = kMinPrologues - 1;
  for (const Range<FileAddress>& gap : find_gaps(binary)) {
    const auto content = binary.content_at(gap.begin);
    const auto code =
        content.first(static_cast<std::size_t>(std::min<std::uint64_t>(content.size(), gap.size_bytes())));
    const std::size_t count = count_prologues(code);
    if (count <= best_count) continue;
    best = gap;
    best_count = count;
  }
  return best;
}

}  // namespace

std::optional<Range<FileAddress>> find_embedded_builtins(const ElfFile& binary) {
  if (binary.machine() != Machine::kX86_64) return std::nullopt;
  if (const auto range = find_by_symbols(binary)) return range;
  return find_by_gap(binary);
}

}  // namespace nodescope
