#include "binary/jitdump.h"

#include <gtest/gtest.h>

#include <string>

#include "support/jitdump_builder.h"

namespace nodescope {
namespace {

using testing::DumpBuilder;

struct Parsed {
  std::string bytes;
  Diagnostics diagnostics;
  Result<JitDump> dump = fail(ErrorCode::kInvalidInput, "not parsed");

  explicit Parsed(std::string content) : bytes(std::move(content)) {
    dump = JitDump::parse(as_byte_span(bytes), diagnostics);
  }
};

std::string name_at(JitTimeline& timeline, std::uint64_t address) {
  const JitCode* code = timeline.find(Address{address});
  return code == nullptr ? "-" : std::string(code->name);
}

TEST(JitDump, ReadsLoads) {
  const Parsed parsed(DumpBuilder().load(10, 0x1000, "\x55\xC3", "JS:*fib /app/x.js:3:9").bytes());
  ASSERT_TRUE(parsed.dump);
  EXPECT_EQ(parsed.dump->pid(), 123);
  EXPECT_FALSE(parsed.dump->has_processor_times());
  ASSERT_EQ(parsed.dump->codes().size(), 1u);
  const JitCode& code = parsed.dump->codes()[0];
  EXPECT_EQ(code.name, "JS:*fib /app/x.js:3:9");
  EXPECT_EQ(code.time, 10u);
  EXPECT_EQ(code.range, (Range<Address>{Address{0x1000}, Address{0x1002}}));
  EXPECT_EQ(as_text(code.code), "\x55\xC3");
  EXPECT_FALSE(code.source);
  EXPECT_TRUE(parsed.diagnostics.entries().empty());
}

TEST(JitDump, LinesBelongToTheNextLoadOfTheirAddress) {
  DumpBuilder builder;
  builder.lines(1, 0x1000, "/app/x.js", 42).load(2, 0x1000, "aa", "a");
  builder.lines(3, 0x9000, "/app/y.js", 43).load(4, 0x2000, "bb", "b");
  const Parsed parsed(builder.bytes());
  ASSERT_TRUE(parsed.dump);
  EXPECT_EQ(parsed.dump->codes()[0].source, (SourcePlace{"/app/x.js", 42, 7}));
  EXPECT_FALSE(parsed.dump->codes()[1].source);
}

TEST(JitTimeline, AnAddressBelongsToTheNewestLoadAtTheTime) {
  DumpBuilder builder;
  builder.load(10, 0x1000, std::string(32, 'a'), "first").load(20, 0x1010, std::string(32, 'b'), "second");
  const Parsed parsed(builder.bytes());
  ASSERT_TRUE(parsed.dump);
  JitTimeline timeline(*parsed.dump, JitClock{});
  EXPECT_FALSE(timeline.advance(9));
  EXPECT_EQ(name_at(timeline, 0x1000), "-");
  EXPECT_FALSE(timeline.advance(10));
  EXPECT_EQ(name_at(timeline, 0x101F), "first");
  EXPECT_FALSE(timeline.advance(19));
  EXPECT_TRUE(timeline.advance(20)) << "code that was asked for is replaced";
  EXPECT_EQ(name_at(timeline, 0x100F), "first");
  EXPECT_EQ(name_at(timeline, 0x1010), "second");
  EXPECT_EQ(name_at(timeline, 0x102F), "second");
  EXPECT_EQ(name_at(timeline, 0x1030), "-");
}

TEST(JitTimeline, ReplacingWhatNobodyAskedForIsNoChange) {
  DumpBuilder builder;
  builder.load(10, 0x1000, "aaaa", "first").load(20, 0x1000, "bbbb", "second");
  const Parsed parsed(builder.bytes());
  JitTimeline timeline(*parsed.dump, JitClock{});
  EXPECT_FALSE(timeline.advance(15));
  EXPECT_FALSE(timeline.advance(25));
  EXPECT_EQ(name_at(timeline, 0x1001), "second");
}

TEST(JitTimeline, RecordsAreAppliedInTheOrderOfTheirTimes) {
  DumpBuilder builder;
  builder.load(20, 0x1000, "bbbb", "later").load(10, 0x1000, "aaaa", "earlier");
  const Parsed parsed(builder.bytes());
  JitTimeline timeline(*parsed.dump, JitClock{});
  timeline.advance(15);
  EXPECT_EQ(name_at(timeline, 0x1000), "earlier");
  timeline.advance(20);
  EXPECT_EQ(name_at(timeline, 0x1000), "later");
}

TEST(JitTimeline, CodeThatMovedHasItsNameAtTheNewPlace) {
  DumpBuilder builder;
  builder.load(10, 0x1000, "aaaa", "moved", 5).move(20, 0x1000, 0x8000, 4, 5).move(30, 0x1, 0x2, 4, 99);
  const Parsed parsed(builder.bytes());
  JitTimeline timeline(*parsed.dump, JitClock{});
  timeline.advance(25);
  EXPECT_EQ(name_at(timeline, 0x8003), "moved");
  EXPECT_EQ(parsed.diagnostics.count("jitdump record not understood"), 1u)
      << "a move of what was never loaded";
}

TEST(JitTimeline, ConvertsProcessorTimes) {
  const Parsed parsed(DumpBuilder(1).load(4096, 0x1000, "aaaa", "a").bytes());
  ASSERT_TRUE(parsed.dump);
  EXPECT_TRUE(parsed.dump->has_processor_times());
  const JitClock clock{.shift = 10, .multiplier = 512, .zero = 1000};
  EXPECT_EQ(clock.to_recording_time(4096), 1000u + 2048u);
  JitTimeline timeline(*parsed.dump, clock);
  timeline.advance(3047);
  EXPECT_EQ(name_at(timeline, 0x1000), "-");
  timeline.advance(3048);
  EXPECT_EQ(name_at(timeline, 0x1000), "a");
}

// Seen in dumps of node 26.
TEST(JitDump, SetsTheWrongSizeOfALineRecordRight) {
  for (const std::uint32_t extra : {1u, 5u, 11u, 40u}) {
    DumpBuilder builder;
    builder.lines(10, 0x1000, "/app/x.js", 42, extra).load(10, 0x1000, std::string(64, 'a'), "a");
    const Parsed parsed(builder.load(11, 0x2000, "bb", "b").bytes());
    ASSERT_TRUE(parsed.dump);
    ASSERT_EQ(parsed.dump->codes().size(), 2u) << extra;
    EXPECT_EQ(parsed.dump->codes()[0].source, (SourcePlace{"/app/x.js", 42, 7}));
    EXPECT_EQ(parsed.diagnostics.count("jitdump record with a wrong size: set right"), 1u);
  }
}

TEST(JitDump, EveryPrefixIsSafe) {
  DumpBuilder builder;
  builder.lines(1, 0x1000, "/app/x.js", 42).load(2, 0x1000, "aaaa", "a", 1).move(3, 0x1000, 0x3000, 4, 1);
  const std::string good = builder.bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Parsed parsed(good.substr(0, size));
    if (size < 40) {
      EXPECT_FALSE(parsed.dump);
    } else {
      ASSERT_TRUE(parsed.dump) << size;
    }
  }
  const Parsed cut(good.substr(0, good.size() - 1));
  EXPECT_EQ(cut.dump->codes().size(), 1u);
  EXPECT_EQ(cut.diagnostics.count("jitdump is damaged: read up to there"), 1u);
}

TEST(JitDump, RefusesWhatIsNone) {
  EXPECT_FALSE(Parsed("").dump);
  EXPECT_FALSE(Parsed(std::string(100, 'x')).dump);
  std::string swapped = DumpBuilder().bytes();
  swapped[0] = 'J', swapped[1] = 'i', swapped[2] = 'T', swapped[3] = 'D';
  const Parsed parsed(swapped);
  ASSERT_FALSE(parsed.dump);
  EXPECT_EQ(parsed.dump.error().code, ErrorCode::kUnsupported);
}

TEST(JitDump, LiesAboutSizesAreSurvived) {
  DumpBuilder builder;
  builder.load(1, UINT64_MAX - 1, "aaaa", "wraps");
  builder.record(0, 2, "short").record(1, 2, "").record(2, 2, "x").record(77, 2, "unknown");
  const Parsed parsed(builder.bytes());
  ASSERT_TRUE(parsed.dump);
  EXPECT_TRUE(parsed.dump->codes().empty());
  EXPECT_EQ(parsed.diagnostics.count("jitdump record not understood"), 4u);
}

}  // namespace
}  // namespace nodescope
