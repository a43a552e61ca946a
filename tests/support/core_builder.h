#pragma once

#include <elf.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope::testing {

// Builds core files as the kernel writes them.
class CoreBuilder {
 public:
  static constexpr std::uint32_t kFileNote = 0x46494C45;
  static constexpr std::uint32_t kSignalNote = 0x53494749;

  template <typename T>
  static std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  static void put(std::string& bytes, std::size_t offset, std::uint64_t value, std::size_t size = 8) {
    std::memcpy(bytes.data() + offset, &value, size);
  }

  void note(std::uint32_t type, std::string_view description) {
    notes_ += bytes_of(Elf64_Nhdr{5, static_cast<Elf64_Word>(description.size()), type});
    notes_ += std::string_view("CORE\0\0\0\0", 8);
    notes_ += description;
    notes_.resize((notes_.size() + 3) / 4 * 4, '\0');
  }

  void thread(std::int32_t tid, std::uint64_t pc, std::uint64_t stack_pointer, std::uint64_t fs_base = 0) {
    std::string status(336, '\0');
    put(status, 12, 6, 2);
    put(status, 32, static_cast<std::uint64_t>(tid), 4);
    put(status, 112 + 16 * 8, pc);
    put(status, 112 + 19 * 8, stack_pointer);
    put(status, 112 + 21 * 8, fs_base);
    note(NT_PRSTATUS, status);
  }

  void process(std::int32_t pid, std::string_view name, std::string_view command_line) {
    std::string info(136, '\0');
    put(info, 24, static_cast<std::uint64_t>(pid), 4);
    std::memcpy(info.data() + 40, name.data(), name.size());
    std::memcpy(info.data() + 56, command_line.data(), command_line.size());
    note(NT_PRPSINFO, info);
  }

  void signal(std::int32_t number, std::int32_t code, std::uint64_t rest) {
    std::string info(128, '\0');
    put(info, 0, static_cast<std::uint64_t>(number), 4);
    put(info, 8, static_cast<std::uint64_t>(static_cast<std::uint32_t>(code)), 4);
    put(info, 16, rest);
    note(kSignalNote, info);
  }

  void auxiliary(const std::vector<std::array<std::uint64_t, 2>>& entries) {
    std::string vector;
    for (const auto& entry : entries) vector += bytes_of(entry);
    note(NT_AUXV, vector + bytes_of(std::array<std::uint64_t, 2>{}));
  }

  struct Mapping {
    std::uint64_t begin = 0, end = 0, pages = 0;
    std::string path;
  };
  void mappings(const std::vector<Mapping>& files, std::uint64_t page_bytes = 4096) {
    std::string list = bytes_of(std::uint64_t{files.size()}) + bytes_of(page_bytes);
    for (const Mapping& file : files) list += bytes_of(std::array{file.begin, file.end, file.pages});
    for (const Mapping& file : files) list += file.path + '\0';
    note(kFileNote, list);
  }

  // With `size` bytes in memory, of which `content` was dumped.
  void segment(std::uint64_t begin, std::uint64_t size, std::string content,
               std::uint32_t flags = PF_R | PF_W) {
    segments_.push_back({begin, size, flags, std::move(content)});
  }

  std::string build() const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_CORE;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(segments_.size() + 1);
    std::string file = bytes_of(header);
    std::uint64_t offset = sizeof header + header.e_phnum * sizeof(Elf64_Phdr);
    file += bytes_of(Elf64_Phdr{PT_NOTE, 0, offset, 0, 0, notes_.size(), 0, 4});
    offset += notes_.size();
    for (const Segment& segment : segments_) {
      file += bytes_of(Elf64_Phdr{PT_LOAD, segment.flags, offset, segment.begin, 0, segment.content.size(),
                                  segment.size, 4096});
      offset += segment.content.size();
    }
    file += notes_;
    for (const Segment& segment : segments_) file += segment.content;
    return file;
  }

 private:
  struct Segment {
    std::uint64_t begin = 0, size = 0;
    std::uint32_t flags = 0;
    std::string content;
  };

  std::string notes_;
  std::vector<Segment> segments_;
};

// A core with one thread, a mapped file of which the core has one page, and a stack.
inline CoreBuilder small_core() {
  CoreBuilder core;
  core.thread(42, 0x400123, 0x7000, 0x9000);
  core.process(41, "node", "node app.js ");
  core.signal(6, -6, 41);
  core.auxiliary({{AT_PHDR, 0x400040}, {AT_PAGESZ, 4096}});
  core.mappings({{0x400000, 0x402000, 0, "/usr/bin/node"}, {0x402000, 0x403000, 2, "/usr/bin/node"}});
  core.segment(0x7000, 0x1000, std::string(0x1000, 's'));
  core.segment(0x400000, 0x2000, std::string(0x1000, 'h'), PF_R | PF_X);
  return core;
}

}  // namespace nodescope::testing
