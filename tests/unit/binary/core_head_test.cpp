#include "binary/core_head.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace nodescope {
namespace {

constexpr std::uint64_t kPage = 4096;

CoreSegment segment(std::uint64_t begin, std::uint64_t pages, std::uint64_t dumped_pages) {
  return {{Address{begin}, Address{begin + pages * kPage}}, true, true, false, dumped_pages * kPage, {}};
}

TEST(CoreHead, IsWhatTheReaderReads) {
  CoreThread main_thread;
  main_thread.tid = 100;
  main_thread.registers.set(Register::kRip, 0x401000);
  main_thread.registers.set(Register::kRsp, 0x7FFE'0000'1000);
  main_thread.registers.set(Register::kR15, 15);
  main_thread.thread_pointer = 0x7F00'0000'0740;
  CoreThread worker = main_thread;
  worker.tid = 101;
  const std::vector<CoreThread> threads = {main_thread, worker};
  const std::vector<CoreMapping> mappings = {
      {{Address{0x400000}, Address{0x402000}}, FileOffset{0}, "/usr/bin/node"},
      {{Address{0x402000}, Address{0x403000}}, FileOffset{kPage}, "/usr/bin/node"}};
  const std::vector<CoreSegment> segments = {segment(0x400000, 2, 1), segment(0x500000, 3, 3)};
  const std::array<std::uint64_t, 4> auxiliary = {AT_PHDR, 0x400040, AT_NULL, 0};
  const auto head =
      write_core_head({100, "node", "node server.js",
                       std::string_view(reinterpret_cast<const char*>(auxiliary.data()), sizeof auxiliary),
                       threads, mappings, segments});
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(head->size() % kPage, 0u);
  const std::string file = *head + std::string(4 * kPage, 'm');

  Diagnostics diagnostics;
  const auto core = CoreFile::parse(as_byte_span(file), diagnostics);
  ASSERT_TRUE(core) << core.error().message;
  EXPECT_TRUE(diagnostics.entries().empty());
  EXPECT_EQ(core->pid(), 100);
  EXPECT_EQ(core->name(), "node");
  EXPECT_EQ(core->command_line(), "node server.js");
  EXPECT_EQ(core->auxiliary(AT_PHDR), 0x400040u);
  EXPECT_EQ(core->cut_bytes(), 0u);
  EXPECT_EQ(core->dumped_bytes(), 4 * kPage);
  ASSERT_EQ(core->threads().size(), 2u);
  EXPECT_EQ(core->threads()[0].tid, 100);
  EXPECT_EQ(core->threads()[1].tid, 101);
  EXPECT_EQ(core->threads()[0].registers.get(Register::kRip), 0x401000u);
  EXPECT_EQ(core->threads()[0].registers.get(Register::kR15), 15u);
  EXPECT_EQ(core->threads()[0].thread_pointer, 0x7F00'0000'0740u);
  ASSERT_EQ(core->mappings().size(), 2u);
  EXPECT_EQ(core->mappings()[1].offset.value, kPage);
  EXPECT_EQ(core->mappings()[1].path, "/usr/bin/node");
  ASSERT_EQ(core->segments().size(), 2u);
  EXPECT_EQ(core->segments()[0].content.size(), kPage);
  EXPECT_EQ(core->segments()[1].range, segments[1].range);
  EXPECT_EQ(core->segments()[1].content.size(), 3 * kPage);
}

TEST(CoreHead, CountsNoMoreSegmentsThanTheFormat) {
  std::vector<CoreSegment> segments;
  for (std::uint64_t i = 0; i < 65'535; ++i) segments.push_back(segment(0x10000 * (i + 1), 1, 0));
  const auto head = write_core_head({1, "node", "node", {}, {}, {}, segments});
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace nodescope
