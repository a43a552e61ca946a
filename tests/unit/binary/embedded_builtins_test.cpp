#include "binary/embedded_builtins.h"

#include <gtest/gtest.h>

#include "eh_frame_builder.h"
#include "own_binary.h"

namespace nodescope {
namespace {

using testing::bytes_of;
using testing::ElfBuilder;

constexpr std::uint64_t kCode = 0x100000;

TEST(EmbeddedBuiltins, BySymbols) {
  for (const std::string symbol : {"v8_Default_embedded_blob_code_", "v8_Default_embedded_blob_code_data_"}) {
    ElfBuilder builder;
    builder.add_text(kCode, std::string(0x1000, '\x90'));
    const auto size =
        builder.add({.name = ".rodata", .flags = SHF_ALLOC, .address = 0x8000, .content = bytes_of(0x800u)});
    builder.add_segment(PT_LOAD, PF_R, size);
    builder.add_symbols(
        {{.name = symbol, .value = kCode + 0x100, .type = STT_NOTYPE, .binding = STB_LOCAL},
         {.name = "v8_Default_embedded_blob_code_size_", .value = 0x8000, .type = STT_NOTYPE, .section = 2}});
    const std::string bytes = builder.build();
    EXPECT_EQ(find_embedded_builtins(*ElfFile::parse(as_byte_span(bytes))),
              (Range<FileAddress>{FileAddress{kCode + 0x100}, FileAddress{kCode + 0x900}}))
        << symbol;
  }
}

TEST(EmbeddedBuiltins, ASizeThatLeadsOutOfTheCodeIsNotBelieved) {
  ElfBuilder builder;
  builder.add_text(kCode, std::string(0x1000, '\x90'));
  const auto size = builder.add({.name = ".rodata", .address = 0x8000, .content = bytes_of(0xFFFFFFFFu)});
  builder.add_segment(PT_LOAD, PF_R, size);
  builder.add_symbols({{.name = "v8_Default_embedded_blob_code_", .value = kCode, .type = STT_NOTYPE},
                       {.name = "v8_Default_embedded_blob_code_size_", .value = 0x8000, .type = STT_NOTYPE}});
  const std::string bytes = builder.build();
  EXPECT_FALSE(find_embedded_builtins(*ElfFile::parse(as_byte_span(bytes))));
}

// Two large pieces of code without unwind rules, between small functions that have some.
std::string stripped_elf(const std::string& first, const std::string& second) {
  testing::EhFrameBuilder frames;
  const auto common = frames.add_usual_common();
  const std::string small(0x10, '\x90');
  frames.add_function(common, kCode, 0x10, "");
  frames.add_function(common, kCode + 0x10 + first.size(), 0x10, "");
  frames.add_function(common, kCode + 0x20 + first.size() + second.size(), 0x10, "");
  ElfBuilder builder;
  builder.add_text(kCode, small + first + small + second + small);
  const auto section = builder.add({.name = ".eh_frame",
                                    .flags = SHF_ALLOC,
                                    .address = testing::EhFrameBuilder::kEhFrame,
                                    .content = frames.bytes()});
  builder.add_segment(PT_LOAD, PF_R, section);
  return builder.build();
}

TEST(EmbeddedBuiltins, InAStrippedBinaryTheGapWithV8sPrologues) {
  std::string builtins;
  while (builtins.size() < 600 * 1024) builtins += "\x55\x48\x89\xE5" + std::string(1020, '\x90');
  const std::string assembly(700 * 1024, '\x90');
  const std::string bytes = stripped_elf(assembly, builtins);
  const FileAddress begin{kCode + 0x20 + assembly.size()};
  EXPECT_EQ(find_embedded_builtins(*ElfFile::parse(as_byte_span(bytes))),
            (Range<FileAddress>{begin, begin + builtins.size()}));
  const std::string none = stripped_elf(assembly, assembly);
  EXPECT_FALSE(find_embedded_builtins(*ElfFile::parse(as_byte_span(none))));
}

TEST(EmbeddedBuiltins, ThisProgramHasNone) {
  EXPECT_FALSE(find_embedded_builtins(testing::own_binary()));
}

}  // namespace
}  // namespace nodescope
