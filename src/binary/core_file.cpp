#include "binary/core_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/byte_reader.h"
#include "base/byte_source.h"
#include "binary/core_notes.h"
#include "binary/elf_file.h"

namespace nodescope {

namespace {

// Each thread has some 4 KB of notes.  Lists of notes may overlap in a hostile file.
constexpr std::size_t kMaxNoteLists = 8;
constexpr std::uint64_t kMaxNoteListBytes = std::uint64_t{512} << 20;
constexpr std::size_t kMaxAuxiliary = 256;

constexpr Address kUserSpaceEnd{std::uint64_t{1} << 56};  // with five levels of page tables

using namespace core_notes;

// SIGILL, SIGBUS, SIGFPE, SIGSEGV
constexpr std::array<std::int32_t, 4> kFaults = {4, 7, 8, 11};
constexpr std::int32_t kFromKernel = 0x80;  // SI_KERNEL: without an address

template <typename T>
std::optional<T> value_at(std::span<const std::byte> bytes, std::size_t offset) {
  if (offset > bytes.size()) return std::nullopt;
  return ByteReader(bytes.subspan(offset)).read<T>();
}

std::string_view text_at(std::span<const std::byte> bytes, std::size_t offset, std::size_t limit) {
  if (offset >= bytes.size()) return {};
  const std::string_view text = as_text(bytes.subspan(offset)).substr(0, limit);
  return text.substr(0, text.find('\0'));
}

std::uint64_t padded(std::uint64_t size) {
  return (size + 3) & ~std::uint64_t{3};
}

// Leaves out what overlaps an earlier one.
template <typename T>
std::size_t sort_by_address(std::vector<T>& parts) {
  std::ranges::stable_sort(parts, {}, [](const T& part) { return part.range.begin; });
  const std::size_t before = parts.size();
  Address end;
  std::erase_if(parts, [&](const T& part) {
    if (part.range.begin < end) return true;
    end = part.range.end;
    return false;
  });
  return before - parts.size();
}

}  // namespace

Result<CoreFile> CoreFile::parse(std::span<const std::byte> bytes, Diagnostics& diagnostics) {
  const auto elf = ElfFile::parse(bytes);
  if (!elf) return std::unexpected(elf.error());
  if (elf->type() != ElfType::kCore)
    return fail(ErrorCode::kInvalidInput, "an ELF file, but not the core of a process");
  if (elf->machine() != Machine::kX86_64)
    return fail(ErrorCode::kUnsupported, "the core of an aarch64 process: only x86-64 is read");
  if (elf->segment_count() == 0)
    return fail(ErrorCode::kInvalidInput, "a core that is cut off before its table of segments");
  CoreFile core;
  std::size_t note_lists = 0;
  for (std::size_t i = 0; i < elf->segment_count(); ++i) {
    const ElfSegment segment = *elf->segment(i);
    if (segment.type == PT_NOTE && note_lists++ < kMaxNoteLists) {
      const auto notes = elf->content(segment);
      if (notes.size() < segment.file_bytes) diagnostics.warn("notes of the core are cut off");
      core.read_notes(notes.first(std::min<std::uint64_t>(notes.size(), kMaxNoteListBytes)), diagnostics);
    }
    if (segment.type != PT_LOAD) continue;
    const Address begin{segment.address.value};
    const std::uint64_t size = std::max(segment.memory_bytes, segment.file_bytes);
    core.add_segment({{begin, begin + size},
                      (segment.flags & PF_R) != 0,
                      (segment.flags & PF_W) != 0,
                      (segment.flags & PF_X) != 0,
                      segment.file_bytes,
                      elf->content(segment)},
                     diagnostics);
  }
  core.sort(diagnostics);
  return core;
}

void CoreFile::add_segment(const CoreSegment& segment, Diagnostics& diagnostics) {
  // gdb dumps [vsyscall] too, which is the kernel's.
  if (segment.range.begin >= segment.range.end || segment.range.end > kUserSpaceEnd) return;
  if (segments_.size() >= kMaxSegments) {
    diagnostics.warn("core has more segments than are read");
    return;
  }
  segments_.push_back(segment);
}

void CoreFile::sort(Diagnostics& diagnostics) {
  if (const std::size_t count = sort_by_address(segments_) + sort_by_address(mappings_); count != 0)
    diagnostics.add(Severity::kWarning, "core has ranges that overlap: only the first of them counts", {},
                    count);
  for (const CoreSegment& segment : segments_) {
    dumped_bytes_ += segment.dumped_bytes;
    cut_bytes_ += segment.dumped_bytes - segment.content.size();
  }
}

void CoreFile::read_notes(std::span<const std::byte> notes, Diagnostics& diagnostics) {
  ByteReader reader(notes);
  while (reader.remaining() >= sizeof(Elf64_Nhdr)) {
    const auto header = reader.read<Elf64_Nhdr>();
    const auto owner = reader.take(padded(header->n_namesz));
    const auto description = owner ? reader.take(header->n_descsz) : std::nullopt;
    if (!description) {
      diagnostics.warn("notes of the core are damaged");
      return;
    }
    if (as_text(*owner).starts_with("CORE")) read_note(header->n_type, *description, diagnostics);
    reader.take(std::min<std::uint64_t>(padded(header->n_descsz) - header->n_descsz, reader.remaining()));
  }
}

void CoreFile::read_note(std::uint32_t type, std::span<const std::byte> description,
                         Diagnostics& diagnostics) {
  switch (type) {
    case NT_PRSTATUS:
      return read_thread(description, diagnostics);
    case NT_PRPSINFO:
      return read_process(description);
    case NT_AUXV:
      return read_auxiliary(description);
    case kFileNote:
      return read_mappings(description, diagnostics);
    case kSignalNote:
      return read_signal(description);
    default:
      return;
  }
}

void CoreFile::read_thread(std::span<const std::byte> description, Diagnostics& diagnostics) {
  const auto tid = value_at<std::int32_t>(description, kStatusTid);
  const auto raw = value_at<std::array<std::uint64_t, kRegisterWords>>(description, kStatusRegisters);
  if (!tid || !raw || threads_.size() >= kMaxThreads) {
    diagnostics.warn("threads of the core are left out");
    return;
  }
  CoreThread thread;
  thread.tid = *tid;
  thread.signal = value_at<std::int16_t>(description, kStatusSignal).value_or(0);
  for (const auto& [which, place] : kRegisterPlaces) thread.registers.set(which, (*raw)[place]);
  thread.thread_pointer = (*raw)[kFsBaseWord];
  threads_.push_back(thread);
}

// {count, page size, {begin, end, offset in pages} for each, their names}.  gdb counts in pages of one byte.
void CoreFile::read_mappings(std::span<const std::byte> description, Diagnostics& diagnostics) {
  ByteReader entries(description);
  const auto count = entries.read<std::uint64_t>();
  const auto page_bytes = entries.read<std::uint64_t>();
  constexpr std::uint64_t kEntryBytes = 24;
  if (!page_bytes || *count > entries.remaining() / kEntryBytes) {
    diagnostics.warn("list of mapped files in the core is damaged");
    return;
  }
  ByteReader names(description.subspan(16 + static_cast<std::size_t>(*count * kEntryBytes)));
  for (std::uint64_t i = 0; i < *count && mappings_.size() < kMaxMappings; ++i) {
    const auto raw = *entries.read<std::array<std::uint64_t, 3>>();
    const auto name = names.read_c_string();
    if (!name) {
      diagnostics.warn("list of mapped files in the core is damaged");
      return;
    }
    if (raw[0] >= raw[1] || raw[1] > kUserSpaceEnd.value) continue;
    mappings_.push_back({{Address{raw[0]}, Address{raw[1]}}, FileOffset{raw[2] * *page_bytes}, *name});
  }
}

void CoreFile::read_signal(std::span<const std::byte> description) {
  const auto number = value_at<std::int32_t>(description, 0);
  const auto code = value_at<std::int32_t>(description, 8);
  if (!code || signal_) return;
  CoreSignal signal;
  signal.number = *number;
  signal.code = *code;
  const bool is_fault = std::ranges::find(kFaults, signal.number) != kFaults.end();
  // A positive code comes from the kernel; SI_USER, SI_QUEUE and SI_TKILL say who sent it.
  if (is_fault && signal.code > 0 && signal.code != kFromKernel) {
    if (const auto address = value_at<std::uint64_t>(description, 16))
      signal.fault_address = Address{*address};
  } else if (signal.code <= 0) {
    signal.sender_pid = value_at<std::int32_t>(description, 16);
  }
  signal_ = signal;
}

void CoreFile::read_process(std::span<const std::byte> description) {
  pid_ = value_at<std::int32_t>(description, kProcessPid);
  name_ = text_at(description, kProcessName, kNameBytes);
  command_line_ = text_at(description, kProcessArguments, kArgumentBytes);
  while (command_line_.ends_with(' ')) command_line_.remove_suffix(1);
}

void CoreFile::read_auxiliary(std::span<const std::byte> description) {
  ByteReader reader(description);
  while (auxiliary_.size() < kMaxAuxiliary) {
    const auto entry = reader.read<std::array<std::uint64_t, 2>>();
    if (!entry || (*entry)[0] == AT_NULL) return;
    auxiliary_.emplace_back((*entry)[0], (*entry)[1]);
  }
}

std::optional<std::uint64_t> CoreFile::auxiliary(std::uint64_t type) const {
  const auto found = std::ranges::find(auxiliary_, type, &decltype(auxiliary_)::value_type::first);
  return found == auxiliary_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace nodescope
