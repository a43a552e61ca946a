#include "formats/firefox/firefox.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <string>

#include "base/text.h"
#include "formats/cpuprofile/cpuprofile.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using boost::json::value;
using testing::read_test_file;

std::string write(const Profile& profile) {
  StringSink sink;
  EXPECT_TRUE(kFirefoxFormat.write(profile, {}, sink).has_value());
  return sink.text();
}

value write_and_parse(const Profile& profile) {
  const std::string text = write(profile);
  EXPECT_TRUE(is_valid_utf8(text));
  return boost::json::parse(text);
}

Profile cpuprofile(std::string_view path) {
  const std::string text = read_test_file(path);
  MemorySource source(text, "test.cpuprofile");
  return std::move(*kCpuProfileFormat.read(source, {}));
}

// Every column of `table` is as long as it says, and what refers to another table stays inside of it.
void check_column(const value& table, const char* name, std::int64_t limit) {
  const auto& column = table.at(name).as_array();
  ASSERT_EQ(static_cast<std::int64_t>(column.size()), table.at("length").as_int64()) << name;
  for (const value& index : column) {
    if (index.is_null()) continue;
    EXPECT_GE(index.as_int64(), -1) << name;
    EXPECT_LT(index.as_int64(), limit) << name;
  }
}

void check_structure(const value& file) {
  EXPECT_EQ(file.at("meta").at("preprocessedProfileVersion").as_int64(), 60);
  const value& shared = file.at("shared");
  const auto length = [&](const char* table) { return shared.at(table).at("length").as_int64(); };
  const auto strings = static_cast<std::int64_t>(shared.at("stringArray").as_array().size());
  const auto categories = static_cast<std::int64_t>(file.at("meta").at("categories").as_array().size());
  const value& stacks = shared.at("stackTable");
  check_column(stacks, "frame", length("frameTable"));
  check_column(stacks, "prefix", length("stackTable"));
  for (std::size_t i = 0; i < stacks.at("prefix").as_array().size(); ++i) {
    const value& prefix = stacks.at("prefix").at(i);
    if (prefix.is_null()) continue;
    EXPECT_LT(prefix.as_int64(), static_cast<std::int64_t>(i));
  }
  const value& frames = shared.at("frameTable");
  check_column(frames, "func", length("funcTable"));
  check_column(frames, "category", categories);
  check_column(frames, "subcategory", 5);
  for (const char* name : {"address", "inlineDepth", "nativeSymbol", "innerWindowID", "line", "column"}) {
    check_column(frames, name, std::int64_t{1} << 32);
  }
  const value& functions = shared.at("funcTable");
  check_column(functions, "name", strings);
  check_column(functions, "resource", length("resourceTable"));
  check_column(functions, "source", length("sources"));
  for (const char* name : {"lineNumber", "columnNumber"})
    check_column(functions, name, std::int64_t{1} << 32);
  check_column(shared.at("resourceTable"), "name", strings);
  check_column(shared.at("resourceTable"), "lib",
               static_cast<std::int64_t>(file.at("libs").as_array().size()));
  check_column(shared.at("sources"), "filename", strings);
  for (const value& thread : file.at("threads").as_array()) {
    check_column(thread.at("samples"), "stack", length("stackTable"));
    const auto samples = thread.at("samples").at("length").as_int64();
    EXPECT_EQ(static_cast<std::int64_t>(thread.at("samples").at("time").as_array().size()), samples);
    EXPECT_EQ(static_cast<std::int64_t>(thread.at("samples").at("weight").as_array().size()), samples);
    double last = 0;
    for (const value& time : thread.at("samples").at("time").as_array()) {
      EXPECT_GE(time.to_number<double>(), last);
      last = time.to_number<double>();
    }
    check_column(thread.at("markers"), "name", strings);
    check_column(thread.at("markers"), "category", categories);
    for (const char* name : {"startTime", "endTime", "phase", "data"}) {
      EXPECT_EQ(static_cast<std::int64_t>(thread.at("markers").at(name).as_array().size()),
                thread.at("markers").at("length").as_int64());
    }
    EXPECT_TRUE(thread.at("pid").is_string());
  }
}

// Own weight of every function in milliseconds, as the Firefox Profiler computes it.
std::map<std::string, double> self_times(const value& file, const value& thread) {
  std::map<std::string, double> times;
  const value& shared = file.at("shared");
  for (std::size_t i = 0; i < thread.at("samples").at("stack").as_array().size(); ++i) {
    const value& stack = thread.at("samples").at("stack").at(i);
    if (stack.is_null()) continue;
    const auto frame =
        static_cast<std::size_t>(shared.at("stackTable").at("frame").at(stack.as_int64()).as_int64());
    const auto function = static_cast<std::size_t>(shared.at("frameTable").at("func").at(frame).as_int64());
    const auto name = static_cast<std::size_t>(shared.at("funcTable").at("name").at(function).as_int64());
    times[std::string(shared.at("stringArray").at(name).as_string())] +=
        thread.at("samples").at("weight").at(i).to_number<double>();
  }
  return times;
}

// The stored file was opened with the Firefox Profiler: see how.txt.
TEST(Firefox, GoldenFile) {
  const Profile profile = cpuprofile("tests/golden/firefox/node20/input");
  const std::string text = write(profile);
  EXPECT_EQ(text, read_test_file("tests/golden/firefox/node20/written"));
  const value file = boost::json::parse(text);
  check_structure(file);
  std::string lines;
  for (const auto& [name, time] : self_times(file, file.at("threads").at(0))) {
    lines += fmt::format("{:.3f} {}\n", time, name);
  }
  EXPECT_EQ(lines, read_test_file("tests/golden/firefox/node20/expected"));
}

TEST(Firefox, ThreadsEventsMarkersAndLibraries) {
  Profile profile;
  const EventId cpu = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const EventId cycles = profile.intern_event("cycles", Unit::kCount);
  const ProcessId process = profile.intern_process(5, "node");
  const ThreadId main = profile.intern_thread(process, 5, "main");
  const ThreadId renamed = profile.intern_thread(process, 5, "renamed");
  const ThreadId collector = profile.intern_thread(process, 6, "collector");
  Frame frame;
  frame.function = profile.strings.intern("read");
  frame.module = profile.strings.intern("/usr/lib/libc.so.6");
  frame.file = profile.strings.intern("read.c");
  frame.line = 9;
  frame.kind = FrameKind::kNative;
  StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
  frame.line = 10;
  stack = profile.stacks.push(stack, profile.frames.intern(frame));
  profile.mappings.push_back({process, 1, 2, 0, frame.module, profile.strings.intern("abc123")});
  profile.samples.add({3'000'000, stack, {renamed, 1, cpu}, 1'500'000});
  profile.samples.add({2'000'000, stack, {main, 0, cpu}, 1'000'000});
  profile.samples.add({2'000'000, kEmptyStack, {main, 0, cycles}, 77});
  profile.markers.push_back(
      {2'500'000, 250'000, collector, MarkerKind::kGc, profile.strings.intern("MinorGC")});

  const value file = write_and_parse(profile);
  check_structure(file);
  const auto& threads = file.at("threads").as_array();
  ASSERT_EQ(threads.size(), 4u);
  EXPECT_EQ(threads[0].at("name").as_string(), "renamed (cpu-clock)");
  EXPECT_EQ(threads[0].at("tid"), value(5));
  EXPECT_EQ(threads[1].at("tid"), value("5.1"));
  EXPECT_EQ(threads[2].at("samples").at("weightType").as_string(), "samples");
  EXPECT_EQ(threads[0].at("samples").at("weightType").as_string(), "tracing-ms");
  EXPECT_EQ(threads[0].at("samples").at("time").at(0), value(1));
  EXPECT_EQ(threads[0].at("samples").at("weight").at(0), value(1.5));
  EXPECT_EQ(threads[3].at("markers").at("startTime").at(0), value(0.5));
  EXPECT_EQ(threads[3].at("markers").at("endTime").at(0), value(0.75));
  EXPECT_EQ(file.at("libs").at(0).at("codeId").as_string(), "abc123");
  EXPECT_EQ(file.at("libs").at(0).at("name").as_string(), "libc.so.6");
  // Two lines of one function.
  EXPECT_EQ(file.at("shared").at("frameTable").at("length").as_int64(), 2);
  EXPECT_EQ(file.at("shared").at("funcTable").at("length").as_int64(), 1);
}

TEST(Firefox, SamplesWithoutTimesComeOneBehindTheOther) {
  const value file = write_and_parse(testing::profile_of("main;parse 3\nmain 1\nidle 2\n"));
  check_structure(file);
  const value& samples = file.at("threads").at(0).at("samples");
  EXPECT_EQ(samples.at("time"), value({0, 1, 2}));
  EXPECT_EQ(samples.at("weight"), value({3, 1, 2}));
}

TEST(Firefox, AnEmptyProfileIsWritten) {
  check_structure(write_and_parse(Profile()));
}

TEST(Firefox, ReadsWhatItWrote) {
  Profile profile = cpuprofile("tests/golden/cpuprofile/node26/input");
  const EventId bytes = profile.intern_event("space", Unit::kBytes);
  const ThreadId other = profile.intern_thread(profile.intern_process(7, "node"), 8, "worker");
  profile.samples.add({5'000'000, StackId{3}, {other, kUnknownCpu, bytes}, UINT64_MAX / 2});
  profile.samples.add({6'000'000, kEmptyStack, {other, kUnknownCpu, bytes}, 1});
  profile.markers.push_back({5'500'000, 250'000, other, MarkerKind::kGc, profile.strings.intern("MinorGC")});
  profile.clock_offset_ns = 1'700'000'000'123'456'789;
  const std::string text = write(profile);
  EXPECT_TRUE(kFirefoxFormat.recognise(std::string_view(text).substr(0, kHeadBytes)));
  const Profile again = testing::read_as(kFirefoxFormat, text);
  EXPECT_EQ(testing::to_text(again), testing::to_text(profile));
  EXPECT_EQ(again.clock_offset_ns, profile.clock_offset_ns);
  EXPECT_EQ(write(again), text);
}

TEST(Firefox, ReadsSamplesWithoutTimes) {
  const Profile profile = testing::profile_of("main;js:parse;kernel:read 3\nmain;gc:Scavenge 1");
  const Profile again = testing::read_as(kFirefoxFormat, write(profile));
  EXPECT_EQ(testing::to_text(again), testing::to_text(profile));
}

TEST(Firefox, AnyPrefixIsSafe) {
  testing::read_every_prefix(kFirefoxFormat, read_test_file("fuzz/corpus/firefox/samply"));
  testing::read_every_prefix(kFirefoxFormat, read_test_file("tests/golden/firefox/node20/written"), 97);
}

class OneFile final : public FileOpener {
 public:
  OneFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
    if (path != path_) return fail(ErrorCode::kNotFound, path + ": not here");
    return std::make_unique<MemorySource>(text_, path);
  }

 private:
  std::string path_;
  std::string text_;
};

std::string stacks_of(const Profile& profile) {
  std::string text;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Sample sample = profile.samples[i];
    std::string line;
    for (const FrameId id : profile.stacks.unwind(sample.stack)) {
      const Frame& frame = profile.frames[id];
      line += fmt::format("{}{} {}", line.empty() ? "" : ";", to_string(frame.kind),
                          profile.text(frame.function));
    }
    const Thread& thread = profile.thread(sample.context.thread);
    text += fmt::format("{} {}/{} {} ns: {}\n", sample.weight, profile.process(thread.process).pid,
                        thread.tid, sample.time_ns, line);
  }
  return text;
}

// The shape of what samply 0.13 writes: tables in the thread, numbers instead of names, deltas for times.
TEST(Firefox, ReadsSamplyWithTheSymbolsBesideIt) {
  const std::string text = read_test_file("fuzz/corpus/firefox/samply");
  OneFile files("run.syms.json", read_test_file("fuzz/corpus/firefox_sidecar/samply"));
  MemorySource source(text, "run.json.gz");
  ReadOptions options;
  options.files = &files;
  const auto named = kFirefoxFormat.read(source, options);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(stacks_of(*named),
            "1 4711/4711 0 ns: native main;js fib\n"
            "2 4711/4711 1250000 ns: native main;native memcpy;kernel \n");
  EXPECT_EQ(named->clock_offset_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(stacks_of(testing::read_as(kFirefoxFormat, text)),
            "1 4711/4711 0 ns: native main;js fib\n"
            "2 4711/4711 1250000 ns: native main;unknown ;kernel \n");
}

TEST(Firefox, NeedsTheProcessedFormat) {
  const auto profile =
      testing::try_read_as(kFirefoxFormat, R"({"meta":{"version":28},"threads":[{"name":"x"}]})");
  ASSERT_FALSE(profile);
  EXPECT_NE(profile.error().message.find("save it there"), std::string::npos);
}

}  // namespace
}  // namespace nodescope
