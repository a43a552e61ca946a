#pragma once

#include <string>
#include <vector>

#include "elf_builder.h"

namespace nodescope::testing {

inline std::string uleb(std::uint64_t value) {
  std::string text;
  do {
    const auto low = static_cast<char>(value & 0x7F);
    value >>= 7;
    text += static_cast<char>(value != 0 ? low | '\x80' : low);
  } while (value != 0);
  return text;
}

// Writes .eh_frame and .eh_frame_hdr of a binary at fixed addresses.
class EhFrameBuilder {
 public:
  static constexpr std::uint64_t kEhFrame = 0x5000;
  static constexpr std::uint64_t kHeader = 0x9000;

  // Gives the offset of the CIE.  Code alignment 1, data alignment -8, pointers relative to their place in 32
  // bits.
  std::uint32_t add_common(const std::string& instructions, const std::string& letters = "zR") {
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    std::string augmentation = "\x1B";
    add_entry(bytes_of(0u) + '\x01' + letters + '\0' + uleb(1) + '\x78' + uleb(16) +
              uleb(augmentation.size()) + augmentation + instructions);
    return offset;
  }
  // The CIE of nearly every x86-64 binary: CFA = rsp + 8, return address below it.
  std::uint32_t add_usual_common(const std::string& letters = "zR") {
    return add_common("\x0C\x07\x08\x90\x01", letters);
  }

  void add_function(std::uint32_t common, std::uint64_t begin, std::uint32_t size,
                    const std::string& instructions) {
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    functions_.push_back({begin, offset});
    const auto place = kEhFrame + offset + 8;
    add_entry(bytes_of(offset + 4 - common) + bytes_of(static_cast<std::int32_t>(begin - place)) +
              bytes_of(size) + uleb(0) + instructions);
  }

  const std::string& bytes() const { return bytes_; }

  // Functions must have been added in the order of their addresses.
  std::string header() const {
    std::string text = "\x01\x1B\x03\x3B";
    text += bytes_of(static_cast<std::int32_t>(kEhFrame - (kHeader + 4)));
    text += bytes_of(static_cast<std::uint32_t>(functions_.size()));
    for (const Function& function : functions_) {
      text += bytes_of(static_cast<std::int32_t>(function.begin - kHeader));
      text += bytes_of(static_cast<std::int32_t>(kEhFrame + function.offset - kHeader));
    }
    return text;
  }

  std::string elf(bool with_header, bool with_section_headers = true) const {
    ElfBuilder builder;
    builder.with_section_headers = with_section_headers;
    builder.add_text(0x1000, std::string(0x1000, '\x90'));
    const auto frame =
        builder.add({.name = ".eh_frame", .flags = SHF_ALLOC, .address = kEhFrame, .content = bytes_});
    builder.add_segment(PT_LOAD, PF_R, frame);
    if (with_header) {
      const auto index =
          builder.add({.name = ".eh_frame_hdr", .flags = SHF_ALLOC, .address = kHeader, .content = header()});
      builder.add_segment(PT_GNU_EH_FRAME, PF_R, index);
    }
    return builder.build();
  }

 private:
  struct Function {
    std::uint64_t begin;
    std::uint32_t offset;
  };

  void add_entry(std::string content) {
    content.resize((content.size() + 3) & ~std::size_t{3});  // DW_CFA_nop
    bytes_ += bytes_of(static_cast<std::uint32_t>(content.size())) + content;
  }

  std::string bytes_;
  std::vector<Function> functions_;
};

}  // namespace nodescope::testing
