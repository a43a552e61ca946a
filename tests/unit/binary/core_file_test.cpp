#include "binary/core_file.h"

#include <gmock/gmock.h>

#include <random>

#include "support/core_builder.h"

namespace nodescope {
namespace {

using testing::CoreBuilder;
using ::testing::SizeIs;
using testing::small_core;

struct Parsed {
  std::string bytes;
  Diagnostics diagnostics;
  Result<CoreFile> core;

  explicit Parsed(std::string content)
      : bytes(std::move(content)), core(CoreFile::parse(as_byte_span(bytes), diagnostics)) {}
};

TEST(CoreFile, HasThreadsMappingsAndWhyItEnded) {
  const Parsed parsed(small_core().build());
  ASSERT_TRUE(parsed.core) << parsed.core.error().message;
  const CoreFile& core = *parsed.core;
  ASSERT_THAT(core.threads(), SizeIs(1));
  EXPECT_EQ(core.threads()[0].tid, 42);
  EXPECT_EQ(core.threads()[0].signal, 6);
  EXPECT_EQ(core.threads()[0].registers.get(Register::kRip), 0x400123u);
  EXPECT_EQ(core.threads()[0].registers.get(Register::kRsp), 0x7000u);
  EXPECT_EQ(core.threads()[0].thread_pointer, 0x9000u);
  EXPECT_EQ(core.pid(), 41);
  EXPECT_EQ(core.name(), "node");
  EXPECT_EQ(core.command_line(), "node app.js");
  ASSERT_TRUE(core.signal());
  EXPECT_EQ(core.signal()->number, 6);
  EXPECT_EQ(core.signal()->sender_pid, 41);
  EXPECT_EQ(core.signal()->fault_address, std::nullopt);
  EXPECT_EQ(core.auxiliary(AT_PHDR), 0x400040u);
  EXPECT_EQ(core.auxiliary(AT_ENTRY), std::nullopt);
  ASSERT_THAT(core.mappings(), SizeIs(2));
  EXPECT_EQ(core.mappings()[1].offset, FileOffset{0x2000});
  EXPECT_EQ(core.mappings()[1].path, "/usr/bin/node");
  ASSERT_THAT(core.segments(), SizeIs(2));
  EXPECT_EQ(core.segments()[1].dumped_bytes, 0x1000u);
  EXPECT_EQ(core.segments()[1].range.size_bytes(), 0x2000u);
  EXPECT_EQ(core.cut_bytes(), 0u);
  EXPECT_TRUE(parsed.diagnostics.entries().empty());
}

TEST(CoreFile, AFaultHasAnAddressAndNoSender) {
  CoreBuilder builder;
  builder.signal(11, 1, 0xDEAD);
  const Parsed parsed(builder.build());
  ASSERT_TRUE(parsed.core && parsed.core->signal());
  EXPECT_EQ(parsed.core->signal()->fault_address, Address{0xDEAD});
  EXPECT_EQ(parsed.core->signal()->sender_pid, std::nullopt);
}

TEST(CoreFile, GdbCountsFileOffsetsInBytes) {
  CoreBuilder builder;
  builder.mappings({{0x1000, 0x2000, 0x5000, "/a"}}, 1);
  const Parsed parsed(builder.build());
  ASSERT_TRUE(parsed.core);
  EXPECT_EQ(parsed.core->mappings()[0].offset, FileOffset{0x5000});
}

TEST(CoreFile, RangesThatOverlapAreLeftOutAndCounted) {
  CoreBuilder builder;
  builder.segment(0x3000, 0x1000, "c");
  builder.segment(0x1000, 0x1000, "a");
  builder.segment(0x1800, 0x1000, "b");
  builder.segment(~std::uint64_t{0} - 0x10, 0x1000, "wraps");
  const Parsed parsed(builder.build());
  ASSERT_TRUE(parsed.core);
  ASSERT_THAT(parsed.core->segments(), SizeIs(2));
  EXPECT_EQ(parsed.core->segments()[0].range.begin, Address{0x1000});
  EXPECT_EQ(parsed.core->segments()[1].range.begin, Address{0x3000});
  EXPECT_TRUE(parsed.diagnostics.has(Severity::kWarning));
}

TEST(CoreFile, SaysWhatWasCutOff) {
  std::string bytes = small_core().build();
  bytes.resize(bytes.size() - 0x800);
  const Parsed parsed(std::move(bytes));
  ASSERT_TRUE(parsed.core);
  EXPECT_EQ(parsed.core->dumped_bytes(), 0x2000u);
  EXPECT_EQ(parsed.core->cut_bytes(), 0x800u);
}

TEST(CoreFile, OtherFilesAreRefused) {
  std::string bytes = small_core().build();
  const std::uint16_t executable = ET_EXEC;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_type), &executable, sizeof executable);
  EXPECT_FALSE(Parsed(bytes).core);
  EXPECT_FALSE(Parsed("#!/bin/sh").core);
}

TEST(CoreFile, EveryBeginningOfItIsSafe) {
  const std::string whole = small_core().build();
  for (std::size_t size = 0; size < 0x500; ++size) {
    const Parsed parsed(whole.substr(0, size));
    if (parsed.core) {
      EXPECT_LE(parsed.core->threads().size(), 1u);
    }
  }
}

TEST(CoreFile, NotesThatLieAreSafe) {
  const std::string whole = small_core().build();
  std::mt19937 random(18);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 4; ++i) bytes[random() % 0x600] = static_cast<char>(random());
    const Parsed parsed(std::move(bytes));
    if (!parsed.core) continue;
    Address end;
    for (const CoreSegment& segment : parsed.core->segments()) {
      EXPECT_GE(segment.range.begin, end);
      EXPECT_LE(segment.content.size(), segment.range.size_bytes());
      end = segment.range.end;
    }
  }
}

}  // namespace
}  // namespace nodescope
