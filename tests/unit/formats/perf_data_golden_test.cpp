#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/perf_data/perf_data.h"
#include "formats/symbol_name.h"
#include "support/perf_data_records.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_perf_data;
using testing::read_test_file;
using testing::source_path;

// As perf script prints it: "comm pid/tid time period event", then the frames, innermost first.
std::string to_script(const Profile& profile) {
  std::string text;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Sample sample = profile.samples[i];
    const Thread& thread = profile.thread(sample.context.thread);
    text += fmt::format("{} {}/{} {}.{:06} {} {}\n", profile.text(thread.name),
                        profile.process(thread.process).pid, thread.tid, sample.time_ns / 1'000'000'000,
                        sample.time_ns % 1'000'000'000 / 1000, sample.weight,
                        profile.text(profile.event(sample.context.event).name));
    std::vector<FrameId> frames = profile.stacks.unwind(sample.stack);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      const Frame& place = profile.frames[*frame];
      text += fmt::format("\t{} ({})\n", symbol_of_frame(profile, place), profile.text(place.module));
    }
  }
  return text;
}

const std::filesystem::path kGolden = source_path("tests/golden/perf-data");

// The files of the folder `files` as if they were at the root of the file system, and those of the case.
class GoldenFiles final : public FileOpener {
 public:
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
    const bool is_beside = path.starts_with(kGolden.string());
    std::ifstream file(is_beside ? path : (kGolden / "files").string() + path, std::ios::binary);
    if (!file) return fail(ErrorCode::kNotFound, path);
    contents_.push_back(std::make_unique<std::string>(std::istreambuf_iterator<char>(file),
                                                      std::istreambuf_iterator<char>()));
    return std::make_unique<MemorySource>(*contents_.back(), path);
  }

 private:
  std::vector<std::unique_ptr<std::string>> contents_;
};

class PerfDataGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(PerfDataGolden, SaysWhatPerfScriptSays) {
  const std::string folder = std::string("tests/golden/perf-data/") + GetParam();
  GoldenFiles files;
  const std::string input = read_test_file(folder + "/input");
  ASSERT_TRUE(kPerfDataFormat.recognise(input));
  const auto profile = read_perf_data(input, &files, (kGolden / GetParam() / "input").string());
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(to_script(*profile), read_test_file(folder + "/expected"));
}

TEST_P(PerfDataGolden, EveryPrefixIsSafe) {
  const std::string input = read_test_file(std::string("tests/golden/perf-data/") + GetParam() + "/input");
  testing::read_every_prefix(kPerfDataFormat, input, 37);
}

INSTANTIATE_TEST_SUITE_P(Cases, PerfDataGolden,
                         ::testing::Values("fp", "no-callchain", "dwarf", "pipe", "zstd", "zstd-pipe",
                                           "group", "two-events", "tracepoint", "every-field", "no-time",
                                           "buildid-mmap", "killed", "javascript", "jitdump", "injected"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

Profile read_golden(const std::string& name) {
  GoldenFiles files;
  auto profile = read_perf_data(read_test_file("tests/golden/perf-data/" + name + "/input"), &files,
                                (kGolden / name / "input").string());
  EXPECT_TRUE(profile);
  return std::move(*profile);
}

TEST(PerfData, TellsFactsAboutTheRecording) {
  const Profile profile = read_golden("fp");
  EXPECT_EQ(profile.facts.at("format"), "perf.data");
  EXPECT_EQ(profile.facts.at("architecture"), "x86_64");
  EXPECT_EQ(profile.facts.at("host"), "vm");
  EXPECT_EQ(profile.facts.at("cpus"), "2");
  EXPECT_TRUE(profile.facts.at("perf").starts_with("6.1.")) << profile.facts.at("perf");
  EXPECT_TRUE(profile.facts.at("recorded by").ends_with("perf record -F 499 -g -o perf.data ./spin"));
  EXPECT_TRUE(profile.facts.contains("kernel"));
  EXPECT_TRUE(profile.facts.contains("duration"));
  EXPECT_EQ(profile.events().size(), 1u);
  EXPECT_EQ(profile.events()[0].unit, Unit::kNanoseconds);
  EXPECT_EQ(profile.lost_samples, 0u);
  EXPECT_FALSE(profile.diagnostics.has(Severity::kWarning));
}

TEST(PerfData, KnowsTheKindsOfFrames) {
  const Profile profile = read_golden("javascript");
  std::map<FrameKind, int> kinds;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) ++kinds[profile.frames[FrameId{i}].kind];
  EXPECT_GT(kinds[FrameKind::kJs], 5);
  EXPECT_GT(kinds[FrameKind::kUnknown], 1);
  const Profile native = read_golden("fp");
  for (std::size_t i = 0; i < native.frames.size(); ++i) {
    const Frame& frame = native.frames[FrameId{i}];
    const std::string_view module = native.text(frame.module);
    const FrameKind expected = module == "/srv/app/spin"       ? FrameKind::kNative
                               : module == "[kernel.kallsyms]" ? FrameKind::kKernel
                                                               : FrameKind::kUnknown;
    EXPECT_EQ(frame.kind, expected) << native.text(frame.function) << module;
  }
}

TEST(PerfData, KeepsMappingsOfProcessesWithSamples) {
  const Profile profile = read_golden("fp");
  const auto is_program = [&](const Mapping& mapping) {
    return profile.text(mapping.file) == "/srv/app/spin";
  };
  const auto program = std::ranges::find_if(profile.mappings, is_program);
  ASSERT_NE(program, profile.mappings.end());
  EXPECT_EQ(profile.text(program->build_id).size(), 40u);
  EXPECT_LT(program->start, program->end);
}

TEST(PerfData, KnowsTheWallClockWhereTheFileDoes) {
  constexpr std::int64_t kYear2026 = 1'767'225'600'000'000'000;
  EXPECT_GT(read_golden("jitdump").clock_offset_ns, kYear2026);
  EXPECT_EQ(read_golden("fp").clock_offset_ns, 0);
}

TEST(PerfData, ChildProcessesHaveTheMappingsOfTheirParent) {
  const Profile profile = read_golden("fp");
  std::set<std::int32_t> pids;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    pids.insert(profile.process(profile.thread(profile.samples.context(i).thread).process).pid);
  }
  EXPECT_EQ(pids.size(), 2u);
}

TEST(PerfData, AKilledRecordingIsReadToItsEnd) {
  const Profile profile = read_golden("killed");
  EXPECT_EQ(profile.diagnostics.count("perf record did not end by itself: read up to the end of the file"),
            1u);
  EXPECT_GT(profile.samples.size(), 0u);
}

}  // namespace
}  // namespace nodescope
