#include <gtest/gtest.h>

#include "base/byte_source.h"
#include "formats/format.h"
#include "formats/perf_data/perf_data.h"
#include "support/perf_data_records.h"

namespace nodescope {
namespace {

using namespace testing;

TEST(PerfData, AFileShorterThanItSaysGivesWhatIsThere) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kSample, kUser, sample_body(1, 100, {kContextUser, 1}));
  for (const std::uint64_t size : {std::uint64_t{1'000'000}, UINT64_MAX}) {
    const Profile profile = read_good(builder.file(size));
    EXPECT_EQ(profile.samples.size(), 1u);
    EXPECT_EQ(profile.diagnostics.count("the file is shorter than its header says"), 1u);
  }
}

TEST(PerfData, ARecordCutOffIsNotRead) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kSample, kUser, sample_body(1, 100, {kContextUser, 1}));
  builder.record(kSample, kUser, sample_body(2, 100, {kContextUser, 1}));
  const std::string whole = builder.pipe();
  const Profile profile = read_good(whole.substr(0, whole.size() - 3));
  EXPECT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.diagnostics.count("cut off in the middle of a record"), 1u);
}

// read_profile() is what every command reads with; the format alone gives what there is.
TEST(PerfData, DamageThatLeavesNoSampleIsAnErrorAndAnEmptyRecordingIsNone) {
  const auto read = [](const std::string& text) {
    return read_profile(std::make_unique<MemorySource>(text, "x.data"), {});
  };
  PerfDataBuilder empty;
  empty.attribute(plain_attribute());
  EXPECT_TRUE(read(empty.file()).has_value());
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kSample, kUser, sample_body(1, 100, {kContextUser, 1}));
  const std::string whole = builder.pipe();
  ASSERT_TRUE(read(whole).has_value());
  const auto cut = read(whole.substr(0, whole.size() - 3));
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(
      cut.error().message.find("x.data: damaged, no sample could be read: cut off in the middle of a record"),
      std::string::npos)
      << cut.error().message;
}

TEST(PerfData, LiesWithinASampleCostOnlyTheSample) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  for (const std::uint64_t count : {std::uint64_t{3}, UINT64_MAX, UINT64_MAX / 8 + 2}) {
    builder.record(kSample, kUser, Bytes().words({0, 100, 1, 1, count, kContextUser, 1}));
  }
  builder.record(kSample, kUser, Bytes().words({0, 100}));
  builder.record(kSample, kUser, {});
  builder.record(kSample, kUser, sample_body(2, 100, {kContextUser, 1}));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.diagnostics.count("sample shorter than its event says: left out"), 5u);
}

TEST(PerfData, ARecordWithoutASizeEndsTheReading) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kSample, kUser, sample_body(1, 100, {kContextUser, 1})).raw_records(std::string(64, '\0'));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(profile.samples.size(), 1u);
  EXPECT_TRUE(profile.diagnostics.has(Severity::kError));
}

TEST(PerfData, DamagedCompressionIsSaid) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kSample, kUser, sample_body(1, 100, {kContextUser, 1}));
  builder.record(kCompressed, 0, Bytes().raw("this is not zstd"));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.diagnostics.count("compressed records are damaged: the rest of them is lost"), 1u);
}

TEST(PerfData, OddMappingsAreSurvived) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kMmap, kUser, mmap_body(UINT64_MAX - 10, 0x1000, "/end", 1));
  builder.record(kMmap, kUser, mmap_body(0, UINT64_MAX, "/all", 2));
  builder.record(kMmap, kUser, Bytes().words({1, 2}));
  builder.record(kMmap, 1, mmap_body(0, 0, "[kernel.kallsyms]_text", 3));
  builder.record(kSample, kUser, sample_body(4, 100, {kContextUser, UINT64_MAX - 5000, 0, 1}));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(modules(profile, 0), (std::vector<std::string>{"/all", "/all", "/all"}));
}

TEST(PerfData, ARecordingWithoutEventsIsAnError) {
  EXPECT_FALSE(read_perf_data(PerfDataBuilder().file()));
  EXPECT_FALSE(read_perf_data(PerfDataBuilder().pipe()));
  const auto profile = read_perf_data(PerfDataBuilder().attribute(plain_attribute()).file());
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->diagnostics.count("the recording has no samples"), 1u);
}

TEST(PerfData, ShowsProgress) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  for (int i = 0; i < 20'000; ++i)
    builder.record(kSample, kUser, sample_body(1, 100, {kContextUser, 1, 2, 3}));
  const std::string file = builder.file();
  MemorySource source(file, "perf.data");
  Progress progress;
  ReadOptions options;
  options.progress = &progress;
  const auto profile = kPerfDataFormat.read(source, options);
  ASSERT_TRUE(profile);
  EXPECT_GT(progress.done_bytes.load(), 0u);
  EXPECT_EQ(progress.total_bytes.load(), file.size());
}

}  // namespace
}  // namespace nodescope
