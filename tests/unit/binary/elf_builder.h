#pragma once

#include <elf.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"

namespace nodescope::testing {

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

template <typename... Values>
std::string bytes_of_all(const Values&... values) {
  return (bytes_of(values) + ...);
}

// Makes small ELF files by hand.  Sections lie one after the other in the file; a segment covers one section.
class ElfBuilder {
 public:
  struct Section {
    std::string name = {};
    std::uint32_t type = SHT_PROGBITS;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    std::string content = {};
    std::uint32_t link = 0;
    std::uint64_t entry_bytes = 0;
    std::uint64_t alignment = 8;
    std::uint64_t size_bytes = 0;  // 0: that of the content
  };

  Elf64_Half machine = EM_X86_64;
  Elf64_Half type = ET_DYN;
  bool with_section_headers = true;

  // Gives the index of the section.
  std::uint32_t add(Section section) {
    sections_.push_back(std::move(section));
    return static_cast<std::uint32_t>(sections_.size());
  }
  void add_segment(std::uint32_t kind, std::uint32_t flags, std::uint32_t section) {
    segments_.push_back({kind, flags, section});
  }

  std::uint32_t add_text(std::uint64_t address, std::string code) {
    const std::uint32_t index = add({.name = ".text",
                                     .flags = SHF_ALLOC | SHF_EXECINSTR,
                                     .address = address,
                                     .content = std::move(code)});
    add_segment(PT_LOAD, PF_R | PF_X, index);
    return index;
  }

  struct Symbol {
    std::string name = {};
    std::uint64_t value = 0;
    std::uint64_t size_bytes = 0;
    std::uint8_t type = STT_FUNC;
    std::uint8_t binding = STB_GLOBAL;
    std::uint16_t section = 1;
    std::uint8_t other = STV_DEFAULT;
  };
  // .symtab and .strtab, or .dynsym and .dynstr.
  void add_symbols(const std::vector<Symbol>& symbols, bool dynamic = false) {
    std::string names(1, '\0');
    std::string entries(sizeof(Elf64_Sym), '\0');
    for (const Symbol& symbol : symbols) {
      Elf64_Sym entry{};
      entry.st_name = static_cast<Elf64_Word>(names.size());
      entry.st_info = static_cast<unsigned char>(symbol.binding << 4 | symbol.type);
      entry.st_other = symbol.other;
      entry.st_shndx = symbol.section;
      entry.st_value = symbol.value;
      entry.st_size = symbol.size_bytes;
      entries += bytes_of(entry);
      names += symbol.name + '\0';
    }
    const std::uint32_t strings =
        add({.name = dynamic ? ".dynstr" : ".strtab", .type = SHT_STRTAB, .content = std::move(names)});
    add({.name = dynamic ? ".dynsym" : ".symtab",
         .type = dynamic ? static_cast<std::uint32_t>(SHT_DYNSYM) : static_cast<std::uint32_t>(SHT_SYMTAB),
         .content = std::move(entries),
         .link = strings,
         .entry_bytes = sizeof(Elf64_Sym)});
  }

  static std::string note(std::string_view owner, std::uint32_t type, std::string_view description) {
    Elf64_Nhdr header{static_cast<Elf64_Word>(owner.size() + 1), static_cast<Elf64_Word>(description.size()),
                      type};
    std::string text = bytes_of(header);
    text += owner;
    text += '\0';
    text.resize((text.size() + 3) & ~std::size_t{3});
    text += description;
    text.resize((text.size() + 3) & ~std::size_t{3});
    return text;
  }
  void add_build_id(std::string_view id) {
    add({.name = ".note.gnu.build-id",
         .type = SHT_NOTE,
         .content = note("GNU", NT_GNU_BUILD_ID, id),
         .alignment = 4});
  }

  std::string build() const {
    std::string names(1, '\0');
    std::vector<Elf64_Shdr> headers(1);
    std::string file(sizeof(Elf64_Ehdr) + segments_.size() * sizeof(Elf64_Phdr), '\0');
    for (const Section& section : sections_) {
      file.resize((file.size() + 7) & ~std::size_t{7});
      Elf64_Shdr header{};
      header.sh_name = static_cast<Elf64_Word>(names.size());
      names += section.name + '\0';
      header.sh_type = section.type;
      header.sh_flags = section.flags;
      header.sh_addr = section.address;
      header.sh_offset = file.size();
      header.sh_size = section.size_bytes != 0 ? section.size_bytes : section.content.size();
      header.sh_link = section.link;
      header.sh_entsize = section.entry_bytes;
      header.sh_addralign = section.alignment;
      headers.push_back(header);
      file += section.content;
    }
    Elf64_Shdr names_header{};
    names_header.sh_type = SHT_STRTAB;
    names_header.sh_offset = file.size();
    names_header.sh_size = names.size();
    headers.push_back(names_header);
    file += names;
    file.resize((file.size() + 7) & ~std::size_t{7});

    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = type;
    header.e_machine = machine;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_phoff = segments_.empty() ? 0 : sizeof(header);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(segments_.size());
    if (with_section_headers) {
      header.e_shoff = file.size();
      header.e_shentsize = sizeof(Elf64_Shdr);
      header.e_shnum = static_cast<Elf64_Half>(headers.size());
      header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
      for (const Elf64_Shdr& section : headers) file += bytes_of(section);
    }
    std::memcpy(file.data(), &header, sizeof(header));
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      const Elf64_Shdr& section = headers[segments_[i].section];
      Elf64_Phdr segment{};
      segment.p_type = segments_[i].type;
      segment.p_flags = segments_[i].flags;
      segment.p_offset = section.sh_offset;
      segment.p_vaddr = section.sh_addr;
      segment.p_filesz = section.sh_size;
      segment.p_memsz = section.sh_size;
      segment.p_align = section.sh_addralign;
      std::memcpy(file.data() + sizeof(header) + i * sizeof(segment), &segment, sizeof(segment));
    }
    return file;
  }

 private:
  struct Segment {
    std::uint32_t type;
    std::uint32_t flags;
    std::uint32_t section;
  };
  std::vector<Section> sections_;
  std::vector<Segment> segments_;
};

}  // namespace nodescope::testing
