#include "target/core_process.h"

#include <gmock/gmock.h>

#include "support/core_builder.h"

namespace nodescope {
namespace {

using testing::CoreBuilder;
using ::testing::ElementsAre;
using ::testing::SizeIs;
using testing::small_core;

struct Opened {
  std::string bytes;
  Diagnostics diagnostics;
  Result<std::unique_ptr<CoreProcess>> process;

  explicit Opened(std::string content, const CoreOptions& options = {})
      : bytes(std::move(content)),
        process(CoreProcess::open(std::make_unique<MemorySource>(std::string_view(bytes), "core"), options,
                                  diagnostics)) {}
};

// Where nothing of this name lies, so that no file of the machine gets into it.
CoreBuilder core_without_binary() {
  CoreBuilder core;
  core.thread(42, 0x400123, 0x7000, 0x9000);
  core.process(41, "node", "node app.js");
  core.auxiliary({{AT_PHDR, 0x400040}});
  core.mappings({{0x400000, 0x402000, 0, "/nowhere/node"}, {0x402000, 0x403000, 2, "/nowhere/node"}});
  core.segment(0x7000, 0x1000, std::string(0x1000, 's'));
  core.segment(0x400000, 0x2000, std::string(0x1000, 'h'), PF_R | PF_X);
  return core;
}

TEST(CoreProcess, IsAProcessWhoseThreadsStandStill) {
  const Opened opened(core_without_binary().build());
  ASSERT_TRUE(opened.process) << opened.process.error().message;
  CoreProcess& process = **opened.process;
  EXPECT_EQ(process.pid(), 41);
  EXPECT_EQ(process.executable(), "/nowhere/node");
  EXPECT_EQ(process.thread_name(41), "node");
  const auto stopped = process.stop();
  ASSERT_TRUE(stopped);
  ASSERT_THAT((*stopped)->threads(), SizeIs(1));
  EXPECT_EQ((*stopped)->threads()[0].tid, 42);
  EXPECT_EQ((*stopped)->resume_ns(), 0u);
  const Region* code = process.map().find(Address{0x400123});
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->path, "/nowhere/node");
  EXPECT_TRUE(code->executable);
  EXPECT_TRUE(code->has_file());
  EXPECT_EQ(process.map().find(Address{0x402000})->offset, FileOffset{0x2000});
  EXPECT_TRUE(process.map().find(Address{0x7000})->anonymous());
  EXPECT_EQ(process.map().find(Address{0x8000}), nullptr);
}

TEST(CoreProcess, MemoryIsWhatWasDumped) {
  const Opened opened(core_without_binary().build());
  ASSERT_TRUE(opened.process);
  Memory& memory = (*opened.process)->memory();
  EXPECT_EQ(memory.load<char>(Address{0x7FFF}), 's');
  EXPECT_EQ(memory.load<char>(Address{0x400FFF}), 'h');
  EXPECT_EQ(memory.load<char>(Address{0x401000}), std::nullopt);  // left out, and no file has it
  EXPECT_EQ(memory.load<std::uint64_t>(Address{0x7FFC}), std::nullopt);
  EXPECT_EQ(memory.load<char>(Address{0}), std::nullopt);
}

// The test program itself stands in for the executable.
TEST(CoreProcess, WhatIsInABinaryComesFromIt) {
  CoreBuilder builder;
  builder.auxiliary({{AT_PHDR, 0x400040}});
  builder.mappings({{0x400000, 0x402000, 0, "/nowhere/program"}});
  builder.segment(0x400000, 0x2000, "", PF_R | PF_X);
  const Opened opened(builder.build(), {.executable = "/proc/self/exe"});
  ASSERT_TRUE(opened.process) << opened.process.error().message;
  CoreProcess& process = **opened.process;
  EXPECT_EQ(process.memory().load<std::uint32_t>(Address{0x400000}), 0x464C457Fu);  // "\x7F" "ELF"
  ASSERT_THAT(process.binaries(), SizeIs(1));
  EXPECT_FALSE(process.binaries()[0].is_verified);
  EXPECT_TRUE(process.open_image(process.map().regions()[0]));
}

TEST(CoreProcess, AnotherBuildIsRefused) {
  // An ELF header with a build id that is not that of the test program.
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  std::string page = CoreBuilder::bytes_of(header);
  page +=
      CoreBuilder::bytes_of(Elf64_Phdr{PT_NOTE, PF_R, sizeof header + sizeof(Elf64_Phdr), 0, 0, 36, 36, 4});
  page += CoreBuilder::bytes_of(Elf64_Nhdr{4, 20, NT_GNU_BUILD_ID}) + std::string("GNU\0", 4) +
          std::string(20, 'b');
  page.resize(0x1000, '\0');
  CoreBuilder builder;
  builder.auxiliary({{AT_PHDR, 0x400040}});
  builder.mappings({{0x400000, 0x401000, 0, "/nowhere/program"}});
  builder.segment(0x400000, 0x1000, page, PF_R | PF_X);
  const Opened refused(builder.build(), {.executable = "/proc/self/exe"});
  ASSERT_FALSE(refused.process);
  EXPECT_EQ(refused.process.error().code, ErrorCode::kNotFound);
  const Opened without(builder.build());
  ASSERT_TRUE(without.process);
  EXPECT_EQ((*without.process)->binaries()[0].found_at, "");
  EXPECT_EQ((*without.process)->binaries()[0].build_id->to_hex().substr(0, 4), "6262");
  EXPECT_TRUE(without.diagnostics.has(Severity::kWarning));
}

TEST(CoreProcess, CommandLineAndEnvironmentAreOnTheStack) {
  constexpr std::uint64_t kStack = 0x7000;
  std::string stack(0x1000, '\0');
  const std::string texts("node\0app.js\0HOME=/root\0/usr/bin/node\0", 37);
  constexpr std::uint64_t kTexts = 0x800;
  std::memcpy(stack.data() + kTexts, texts.data(), texts.size());
  const std::vector<std::uint64_t> words = {
      2, kStack + kTexts, kStack + kTexts + 5, 0, kStack + kTexts + 12, 0, AT_PHDR, 0x400040, 0, 0};
  std::memcpy(stack.data() + 0x100, words.data(), words.size() * 8);
  CoreBuilder builder;
  builder.auxiliary({{AT_PHDR, 0x400040}, {AT_RANDOM, kStack + 0x900}, {AT_EXECFN, kStack + kTexts + 23}});
  builder.segment(kStack, stack.size(), stack);
  const Opened opened(builder.build());
  ASSERT_TRUE(opened.process);
  const auto invocation = (*opened.process)->invocation();
  EXPECT_THAT(invocation.arguments, ElementsAre("node", "app.js"));
  EXPECT_THAT(invocation.environment, ElementsAre("HOME=/root"));
}

TEST(CoreProcess, WhatWasWrittenToIsNotTakenFromAFileWhenTheCoreIsCutOff) {
  CoreBuilder builder;
  builder.auxiliary({{AT_PHDR, 0x400040}});
  builder.mappings({{0x400000, 0x402000, 0, "/nowhere/program"}});
  builder.segment(0x400000, 0x2000, std::string(0x2000, 'w'));
  std::string bytes = builder.build();
  bytes.resize(bytes.size() - 0x1800);
  const Opened opened(bytes, {.executable = "/proc/self/exe"});
  ASSERT_TRUE(opened.process) << opened.process.error().message;
  EXPECT_EQ((*opened.process)->memory().load<char>(Address{0x4007FF}), 'w');
  EXPECT_EQ((*opened.process)->memory().load<char>(Address{0x400800}), std::nullopt);
}

}  // namespace
}  // namespace nodescope
