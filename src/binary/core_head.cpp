#include "binary/core_head.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "binary/core_notes.h"

namespace nodescope {

namespace {

constexpr std::size_t kPageBytes = 4096;

// What every thread of a 64-bit program has: it tells debuggers that it is one.
constexpr std::uint64_t kUserCode = 0x33;
constexpr std::uint64_t kUserStack = 0x2B;
constexpr std::uint64_t kFlags = 0x202;  // interrupts are on, and the bit that is always set
constexpr std::uint64_t kNoSystemCall = ~std::uint64_t{0};

template <typename T>
void put(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
void put_at(std::string& to, std::size_t offset, const T& value) {
  std::memcpy(to.data() + offset, &value, sizeof value);
}

void pad(std::string& text, std::size_t unit) {
  text.resize((text.size() + unit - 1) / unit * unit, '\0');
}

void put_note(std::string& notes, std::uint32_t type, std::string_view description) {
  constexpr std::string_view kOwner("CORE\0\0\0\0", 8);
  put(notes, Elf64_Nhdr{5, static_cast<Elf64_Word>(description.size()), type});
  notes += kOwner;
  notes += description;
  pad(notes, 4);
}

std::string status_of(const CoreHead& head, const CoreThread& thread) {
  std::string status(core_notes::kStatusBytes, '\0');
  put_at(status, core_notes::kStatusSignal, static_cast<std::int16_t>(thread.signal));
  put_at(status, core_notes::kStatusTid, thread.tid);
  put_at(status, core_notes::kStatusProcess, head.pid);
  std::array<std::uint64_t, core_notes::kRegisterWords> words{};
  for (const auto& [which, place] : core_notes::kRegisterPlaces)
    words[place] = thread.registers.get(which).value_or(0);
  words[core_notes::kFsBaseWord] = thread.thread_pointer;
  words[core_notes::kSystemCallWord] = kNoSystemCall;
  words[core_notes::kCodeWord] = kUserCode;
  words[core_notes::kFlagsWord] = kFlags;
  words[core_notes::kStackWord] = kUserStack;
  put_at(status, core_notes::kStatusRegisters, words);
  return status;
}

std::string process_of(const CoreHead& head) {
  std::string process(core_notes::kProcessBytes, '\0');
  const auto put_text = [&](std::size_t offset, std::string_view text, std::size_t limit) {
    text = text.substr(0, limit - 1);
    process.replace(offset, text.size(), text);
  };
  process[1] = 'R';
  put_at(process, core_notes::kProcessPid, head.pid);
  put_text(core_notes::kProcessName, head.name, core_notes::kNameBytes);
  put_text(core_notes::kProcessArguments, head.command_line, core_notes::kArgumentBytes);
  return process;
}

std::string files_of(std::span<const CoreMapping> mappings) {
  std::string files;
  put(files, std::uint64_t{mappings.size()});
  put(files, std::uint64_t{kPageBytes});
  for (const CoreMapping& mapping : mappings) {
    put(files, mapping.range.begin.value);
    put(files, mapping.range.end.value);
    put(files, mapping.offset.value / kPageBytes);
  }
  for (const CoreMapping& mapping : mappings) {
    files += mapping.path.substr(0, mapping.path.find('\0'));
    files += '\0';
  }
  return files;
}

std::string notes_of(const CoreHead& head) {
  std::string notes;
  // Readers take what is said of the process from behind the first thread.
  for (std::size_t i = 0; i < head.threads.size(); ++i) {
    put_note(notes, NT_PRSTATUS, status_of(head, head.threads[i]));
    if (i == 0) put_note(notes, NT_PRPSINFO, process_of(head));
  }
  put_note(notes, NT_AUXV, head.auxiliary);
  put_note(notes, core_notes::kFileNote, files_of(head.mappings));
  return notes;
}

Elf64_Ehdr file_header(std::size_t segments) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_CORE;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(segments);
  return header;
}

}  // namespace

Result<std::string> write_core_head(const CoreHead& head) {
  const std::size_t count = head.segments.size() + 1;
  if (count >= PN_XNUM)
    return fail(ErrorCode::kLimit, fmt::format("{} mappings are more than a core file counts", count));
  const std::string notes = notes_of(head);
  std::string text;
  put(text, file_header(count));
  const std::size_t notes_begin = text.size() + count * sizeof(Elf64_Phdr);
  Elf64_Phdr note{};
  note.p_type = PT_NOTE;
  note.p_offset = notes_begin;
  note.p_filesz = notes.size();
  note.p_align = 4;
  put(text, note);
  std::uint64_t offset = (notes_begin + notes.size() + kPageBytes - 1) / kPageBytes * kPageBytes;
  for (const CoreSegment& segment : head.segments) {
    Elf64_Phdr load{};
    load.p_type = PT_LOAD;
    load.p_flags =
        (segment.readable ? PF_R : 0U) | (segment.writable ? PF_W : 0U) | (segment.executable ? PF_X : 0U);
    load.p_offset = offset;
    load.p_vaddr = segment.range.begin.value;
    load.p_filesz = segment.dumped_bytes;
    load.p_memsz = segment.range.size_bytes();
    load.p_align = kPageBytes;
    put(text, load);
    offset += segment.dumped_bytes;
  }
  text += notes;
  pad(text, kPageBytes);
  return text;
}

}  // namespace nodescope
