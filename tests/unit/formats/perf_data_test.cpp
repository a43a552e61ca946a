#include "formats/perf_data/perf_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/memory_files.h"
#include "support/perf_data_records.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using namespace testing;

TEST(PerfData, OtherByteOrdersAndVersionsAreRefused) {
  for (const char* magic : {"2ELIFREP", "PERFFILE"}) {
    const std::string bytes = std::string(magic) + std::string(200, '\0');
    EXPECT_TRUE(kPerfDataFormat.recognise(bytes));
    const auto profile = read_perf_data(bytes);
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().code, ErrorCode::kUnsupported);
  }
  EXPECT_FALSE(kPerfDataFormat.recognise("PERFILE3"));
  EXPECT_FALSE(kPerfDataFormat.recognise("PERF"));
  EXPECT_FALSE(read_perf_data("PERFILE2"));
  EXPECT_FALSE(read_perf_data(""));
}

TEST(PerfData, CallChainsSwitchBetweenKernelAndUser) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "/bin/app", 0));
  builder.record(
      kSample, 1,
      sample_body(10, 100, {kContextKernel, 0xFFFFFFFF81000001, kContextUser, 0x1100, 0x1200, 0x9999}));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(modules(profile, 0),
            (std::vector<std::string>{"[kernel.kallsyms]", "/bin/app", "/bin/app", "[unknown]"}));
}

TEST(PerfData, CodeWithoutASymbolCanBeNamedByItsAddress) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "/bin/app", 0));
  builder.record(kSample, kUser, sample_body(10, 100, {kContextUser, 0x1100, 0x12ab, 0x9999}));
  const std::string file = builder.file();
  MemorySource source(file, "perf.data");
  const auto profile = kPerfDataFormat.read(source, {.name_unknown_by_address = true});
  ASSERT_TRUE(profile);
  std::vector<std::string> names;
  for (const FrameId id : profile->stacks.unwind(profile->samples.stack(0))) {
    EXPECT_EQ(profile->frames[id].kind, FrameKind::kUnknown);
    names.emplace_back(profile->text(profile->frames[id].function));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"[unknown <9999>]", "[app <12ab>]", "[app <1100>]"}));
}

TEST(PerfData, WithoutACallChainTheAddressIsTheStack) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "/bin/app", 0));
  builder.record(kSample, kUser, sample_body(10, 100, {}));
  EXPECT_EQ(modules(read_good(builder.file()), 0), (std::vector<std::string>{"/bin/app"}));
}

TEST(PerfData, ACallChainWithoutAddressesIsAsIfThereWereNone) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "/bin/app", 0));
  builder.record(kSample, kUser, sample_body(10, 100, {kContextUser}));
  EXPECT_EQ(modules(read_good(builder.file()), 0), (std::vector<std::string>{"/bin/app"}));
}

TEST(PerfData, PartsOfUnknownKindsAreLeftOut) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  const auto deferred = static_cast<std::uint64_t>(-640);
  builder.record(kSample, 1, sample_body(10, 100, {kContextKernel, 0xFFFFFFFF81000001, deferred, 77}));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(modules(profile, 0), (std::vector<std::string>{"[kernel.kallsyms]"}));
  EXPECT_EQ(profile.diagnostics.count("part of a call chain of an unknown kind: left out"), 1u);
}

TEST(PerfData, RecordsAreProcessedInTheOrderOfTheirTimes) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  // Two processors: the second one's buffer is written behind the first one's.
  builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "/first", 5));
  builder.record(kSample, kUser, sample_body(10, 100, {kContextUser, 0x1100}));
  builder.record(kSample, kUser, sample_body(30, 100, {kContextUser, 0x1100}));
  builder.record(kSample, kUser, sample_body(15, 101, {kContextUser, 0x1100}));
  builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "/second", 20));
  builder.record(kSample, kUser, sample_body(25, 101, {kContextUser, 0x1100}));
  builder.record(kFinishedRound, 0, {});
  builder.record(kSample, kUser, sample_body(40, 100, {kContextUser, 0x1100}));
  builder.record(kSample, kUser, sample_body(28, 101, {kContextUser, 0x1100}));
  builder.record(kFinishedRound, 0, {});
  const Profile profile = read_good(builder.file());
  ASSERT_EQ(profile.samples.size(), 6u);
  EXPECT_TRUE(profile.samples.is_sorted_by_time());
  std::string order;
  for (std::size_t i = 0; i < 6; ++i)
    order += fmt::format("{}{} ", profile.samples.time_ns(i), modules(profile, i)[0]);
  EXPECT_EQ(order, "10/first 15/first 25/second 28/second 30/second 40/second ");
}

TEST(PerfData, AnExecForgetsTheMappingsAndAForkCopiesThem) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "/parent", 1));
  builder.record(kFork, 0, fork_body(200, 100, 200, 100, 2));
  const auto sample_of_child = [](std::uint64_t time) {
    Bytes body;
    body.put(std::uint64_t{0})
        .put(std::uint32_t{200})
        .put(std::uint32_t{200})
        .words({time, 1, 2, kContextUser, 0x1100});
    return body;
  };
  builder.record(kSample, kUser, sample_of_child(3));
  builder.record(kComm, 1 << 13, comm_body(200, 200, "child", 4));
  builder.record(kSample, kUser, sample_of_child(5));
  builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "/child", 6, 200));
  builder.record(kSample, kUser, sample_of_child(7));
  builder.record(kSample, kUser, sample_body(8, 100, {kContextUser, 0x1100}));
  const Profile profile = read_good(builder.file());
  ASSERT_EQ(profile.samples.size(), 4u);
  EXPECT_EQ(modules(profile, 0)[0], "/parent");
  EXPECT_EQ(modules(profile, 1)[0], "[unknown]");
  EXPECT_EQ(modules(profile, 2)[0], "/child");
  EXPECT_EQ(modules(profile, 3)[0], "/parent");
}

TEST(PerfData, ThreadsAreNamedAsPerfNamesThem) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kSample, kUser, sample_body(1, 101, {kContextUser, 1}));
  builder.record(kComm, 0, comm_body(100, 100, "node", 2));
  builder.record(kFork, 0, fork_body(100, 100, 102, 100, 3));
  builder.record(kSample, kUser, sample_body(4, 102, {kContextUser, 1}));
  builder.record(kComm, 0, comm_body(100, 102, "worker", 5));
  builder.record(kSample, kUser, sample_body(6, 102, {kContextUser, 1}));
  builder.record(kSample, kUser, sample_body(7, 101, {kContextUser, 1}));
  Bytes idle;
  idle.words({0, 0, 8, 1, 2, kContextKernel, 1});
  builder.record(kSample, 1, idle);
  const Profile profile = read_good(builder.file());
  std::string names;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Thread& thread = profile.thread(profile.samples.context(i).thread);
    names +=
        fmt::format("{}/{} ", profile.text(profile.process(thread.process).name), profile.text(thread.name));
  }
  EXPECT_EQ(names, "node/:101 node/node node/worker node/:101 swapper/swapper ");
}

// "pid name: threads" of every process that has samples.
std::vector<std::string> describe_processes(const Profile& profile) {
  std::vector<std::string> texts(profile.processes().size());
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Thread& thread = profile.thread(profile.samples.context(i).thread);
    const Process& process = profile.process(thread.process);
    std::string& text = texts[thread.process.index()];
    if (text.empty()) text = fmt::format("{} {}:", process.pid, profile.text(process.name));
    text += fmt::format(" {}", profile.text(thread.name));
  }
  std::erase(texts, "");
  return texts;
}

TEST(PerfData, AProcessThatChangesItsNameIsOneProcess) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kComm, 0, comm_body(100, 100, "perf", 1));
  builder.record(kSample, kUser, sample_body(2, 100, {kContextUser, 1}));
  builder.record(kComm, 1 << 13, comm_body(100, 100, "node", 3));
  builder.record(kSample, kUser, sample_body(4, 100, {kContextUser, 1}));
  builder.record(kFork, 0, fork_body(100, 100, 101, 100, 5));
  builder.record(kSample, kUser, sample_body(6, 101, {kContextUser, 1}));
  builder.record(kComm, 0, comm_body(100, 101, "worker", 7));
  builder.record(kSample, kUser, sample_body(8, 101, {kContextUser, 1}));
  builder.record(kComm, 0, comm_body(100, 100, "my server", 9));
  builder.record(kSample, kUser, sample_body(10, 100, {kContextUser, 1}));
  builder.record(kSample, kUser, sample_body(11, 101, {kContextUser, 1}));
  EXPECT_EQ(describe_processes(read_good(builder.file())),
            (std::vector<std::string>{"100 my server: perf node node worker my server worker"}));
}

TEST(PerfData, ANumberThatIsUsedAgainIsAnotherProcess) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kComm, 0, comm_body(1, 1, "sh", 1));
  builder.record(kFork, 0, fork_body(100, 1, 100, 1, 2));
  builder.record(kSample, kUser, sample_body(3, 100, {kContextUser, 1}));
  builder.record(kComm, 1 << 13, comm_body(100, 100, "ls", 4));
  builder.record(kSample, kUser, sample_body(5, 100, {kContextUser, 1}));
  builder.record(kFork, 0, fork_body(100, 1, 100, 1, 6));
  builder.record(kSample, kUser, sample_body(7, 100, {kContextUser, 1}));
  builder.record(kComm, 1 << 13, comm_body(100, 100, "node", 8));
  builder.record(kSample, kUser, sample_body(9, 100, {kContextUser, 1}));
  // perf describes a process that is there: no other one.
  builder.record(kFork, 1 << 13, fork_body(100, 1, 100, 1, 10));
  builder.record(kSample, kUser, sample_body(11, 100, {kContextUser, 1}));
  EXPECT_EQ(describe_processes(read_good(builder.file())),
            (std::vector<std::string>{"100 ls: sh ls", "100 node: sh node sh"}));
}

TEST(PerfData, EveryFieldOfASampleIsSkipped) {
  // All fields that exist, so that the call chain is in the middle and the copy of the stack behind it.
  PerfDataBuilder::Attribute attribute = plain_attribute();
  attribute.sample_type = (1 << 25) - 1;
  attribute.read_format = 1 | 2 | 4 | 16;  // not a group
  attribute.branch_sample_type = 1 << 17;
  attribute.user_registers = 1 << 7 | 1 << 8;
  attribute.ids = {7};
  PerfDataBuilder builder;
  builder.attribute(attribute);
  Bytes body;
  body.words({7, 0x1234}).put(std::uint32_t{100}).put(std::uint32_t{101}).words({55, 0xADD, 7, 8});
  body.put(std::uint32_t{3}).put(std::uint32_t{0}).put(std::uint64_t{999});  // cpu, period
  body.words({500, 1, 2, 7, 0});                                             // value, times, id, lost
  body.words({2, kContextUser, 0x1100});                                     // call chain
  body.put(std::uint32_t{12}).raw("raw data 12.");                           // raw
  body.words({1, 0, 0x1, 0x2, 0x3});                                         // branch stack with index
  body.words({1, 0x7000, 0x1100});                                           // registers of a 32-bit process
  body.words({16, 1, 2, 16});                                                // stack
  body.words({1, 2, 3, 0, 4, 5, 6, 7}).words({8}).put(std::uint64_t{0});     // what is behind it
  builder.record(kSample, kUser, body);
  const Profile profile = read_good(builder.file());
  ASSERT_EQ(profile.samples.size(), 1u);
  const Sample sample = profile.samples[0];
  EXPECT_EQ(sample.time_ns, 55);
  EXPECT_EQ(sample.context.cpu, 3);
  EXPECT_EQ(sample.weight, 500u) << "what the counter counted, since it was read";
  EXPECT_EQ(profile.thread(sample.context.thread).tid, 101);
  EXPECT_EQ(modules(profile, 0), (std::vector<std::string>{"[unknown]"}));
}

TEST(PerfData, SamplesOfSeveralEventsAreTold) {
  PerfDataBuilder::Attribute first = plain_attribute();
  first.sample_type |= kIdentifier;
  first.ids = {11, 12};
  PerfDataBuilder::Attribute second{
      .config = 2, .period = 5, .sample_type = kIdentifier | kIp | kTid | kTime, .ids = {21}};
  PerfDataBuilder builder;
  builder.attribute(first).attribute(second);
  builder.record(kSample, kUser, Bytes().words({12, 0x1}).raw(Bytes().words({100, 5, 77, 0}).text()));
  builder.record(kSample, kUser, Bytes().words({21, 0x1, 100, 6}));
  builder.record(kSample, kUser, Bytes().words({99, 0x1, 100, 7}));
  for (const std::string& file : {builder.file(), builder.pipe()}) {
    const Profile profile = read_good(file);
    ASSERT_EQ(profile.samples.size(), 2u);
    EXPECT_EQ(profile.text(profile.event(profile.samples[0].context.event).name), "cpu-clock");
    EXPECT_EQ(profile.samples.weight(0), 77u);
    EXPECT_EQ(profile.text(profile.event(profile.samples[1].context.event).name), "page-faults");
    EXPECT_EQ(profile.samples.weight(1), 5u) << "the fixed period";
    EXPECT_EQ(profile.diagnostics.count("sample of an event that the file does not describe: left out"), 1u);
  }
}

TEST(PerfData, NamesEventsAsPerfDoes) {
  const auto name_of = [](PerfDataBuilder::Attribute attribute) {
    attribute.sample_type = kIp;
    return std::string(read_good(PerfDataBuilder().attribute(attribute).file()).strings[StringId{1}]);
  };
  EXPECT_EQ(name_of({.type = 0, .config = 0}), "cycles");
  EXPECT_EQ(name_of({.type = 1, .config = 3}), "context-switches");
  EXPECT_EQ(name_of({.type = 1, .config = 0, .flags = 3 << 15}), "cpu-clock:ppp");
  EXPECT_EQ(name_of({.type = 0, .config = 1, .flags = 1 << 5 | 1 << 6}), "instructions:u");
  EXPECT_EQ(name_of({.type = 3, .config = 0x10002}), "LLC-load-misses");
  EXPECT_EQ(name_of({.type = 2, .config = 314}), "tracepoint 314");
  EXPECT_EQ(name_of({.type = 4, .config = 0x1A8}), "raw 0x1a8");
}

TEST(PerfData, LossesAreCountedOnce) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kSample, kUser, sample_body(1, 100, {kContextUser, 1}));
  Bytes lost;
  lost.words({0, 7});
  builder.record(kLost, 0, with_trailer(lost, 2));
  EXPECT_EQ(read_good(builder.file()).lost_samples, 7u);
  // The kernel's own count of the same loss, which perf adds at the end without a time.
  Bytes counted;
  counted.words({6});
  builder.record(kLostSamples, 0, with_trailer(counted, 0));
  EXPECT_EQ(read_good(builder.file()).lost_samples, 6u);
  // Lost by the hardware before.
  Bytes hardware;
  hardware.words({100});
  builder.record(kLostSamples, 0, with_trailer(hardware, 3));
  // Filtered, not lost.
  builder.record(kLostSamples, 1 << 15, with_trailer(counted, 0));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(profile.lost_samples, 106u);
  EXPECT_EQ(profile.diagnostics.count("samples lost while recording"), 106u);
}

std::vector<std::string> describe_markers(const Profile& profile) {
  std::vector<std::string> texts;
  for (const Marker& marker : profile.markers) {
    EXPECT_EQ(marker.kind, MarkerKind::kLost);
    texts.push_back(fmt::format("{}+{} {} {}", marker.time_ns, marker.duration_ns,
                                profile.thread(marker.thread).tid, profile.text(marker.name)));
  }
  return texts;
}

TEST(PerfData, LossesHaveATime) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  const auto lost = [](std::uint64_t count, std::uint64_t time) {
    Bytes body;
    body.words({0, count});
    return with_trailer(body, time);
  };
  builder.record(kLost, 0, lost(3, 5));
  builder.record(kSample, kUser, sample_body(10, 100, {kContextUser, 1}));
  builder.record(kSample, kUser, sample_body(12, 101, {kContextUser, 1}));
  builder.record(kLost, 0, lost(7, 30));
  builder.record(kSample, kUser, sample_body(31, 100, {kContextUser, 1}));
  builder.record(kLost, 0, lost(0, 40));
  Bytes filtered;
  filtered.words({4});
  builder.record(kLostSamples, 1 << 15, with_trailer(filtered, 41));
  // Before the first sample nobody knows since when, and the thread is not one of the profile yet.
  EXPECT_EQ(describe_markers(read_good(builder.file())),
            (std::vector<std::string>{"5+0 0 3 lost", "10+20 100 7 lost"}));
}

TEST(PerfData, LossesOfAProcessorBeginWithItsLastSample) {
  constexpr std::uint64_t kCpu = 1 << 7;
  PerfDataBuilder builder;
  builder.attribute({.sample_type = kIp | kTid | kTime | kCpu});
  const auto on_cpu = [](Bytes body, std::uint32_t tid, std::uint64_t time, std::uint64_t cpu) {
    return body.put(std::uint32_t{100}).put(tid).words({time, cpu});
  };
  builder.record(kSample, kUser, on_cpu(Bytes().words({0x1234}), 100, 10, 0));
  builder.record(kSample, kUser, on_cpu(Bytes().words({0x1234}), 100, 20, 1));
  builder.record(kLost, 0, on_cpu(Bytes().words({0, 7}), 100, 30, 0));
  builder.record(kLost, 0, on_cpu(Bytes().words({0, 8}), 100, 40, 1));
  builder.record(kLost, 0, on_cpu(Bytes().words({0, 9}), 100, 50, 77));
  EXPECT_EQ(describe_markers(read_good(builder.file())),
            (std::vector<std::string>{"10+20 100 7 lost", "20+20 100 8 lost", "20+30 100 9 lost"}));
}

TEST(PerfData, ThrottlingHasATime) {
  constexpr std::uint32_t kThrottle = 5;
  constexpr std::uint32_t kUnthrottle = 6;
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  const auto switched = [](std::uint64_t stream, std::uint64_t time) {
    Bytes body;
    body.words({time, 1, stream});
    return with_trailer(body, time);
  };
  builder.record(kSample, kUser, sample_body(5, 100, {kContextUser, 1}));
  builder.record(kUnthrottle, 0, switched(1, 6));
  builder.record(kThrottle, 0, switched(1, 10));
  builder.record(kThrottle, 0, switched(2, 12));
  builder.record(kUnthrottle, 0, switched(1, 18));
  builder.record(kSample, kUser, sample_body(20, 100, {kContextUser, 1}));
  EXPECT_EQ(describe_markers(read_good(builder.file())),
            (std::vector<std::string>{"10+8 100 throttled", "12+8 0 throttled"}));
}

TEST(PerfData, BpfProgramsOfTheKernelHaveNames) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  const auto symbol = [](std::string_view name, std::uint16_t flags, std::uint64_t time) {
    Bytes body;
    body.put(std::uint64_t{0xFFFFFFFFA0000000})
        .put(std::uint32_t{256})
        .put(std::uint16_t{1})
        .put(flags)
        .padded(name);
    return with_trailer(body, time);
  };
  const auto sample = [](std::uint64_t time) {
    return sample_body(time, 100, {kContextKernel, 0xFFFFFFFFA0000010});
  };
  builder.record(kKsymbol, 0, symbol("bpf_prog_one", 0, 1)).record(kSample, 1, sample(2));
  builder.record(kKsymbol, 0, symbol("bpf_prog_one", 1, 3)).record(kSample, 1, sample(4));
  builder.record(kKsymbol, 0, symbol("bpf_prog_two", 0, 5)).record(kSample, 1, sample(6));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(modules(profile, 0)[0], "bpf_prog_one");
  EXPECT_EQ(modules(profile, 1)[0], "[kernel.kallsyms]");
  EXPECT_EQ(modules(profile, 2)[0], "bpf_prog_two");
  EXPECT_EQ(profile.frames[profile.stacks.frame(profile.samples.stack(2))].kind, FrameKind::kKernel);
}

TEST(PerfData, HardwareTracesAreSkippedWithTheirData) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  builder.record(kAuxtrace, 0, Bytes().words({24, 0, 0, 0, 0})).raw_records(std::string(24, '\xFF'));
  builder.record(kSample, kUser, sample_body(1, 100, {kContextUser, 1}));
  EXPECT_EQ(read_good(builder.file()).samples.size(), 1u);
  builder.record(kAuxtrace, 0, Bytes().words({UINT64_MAX, 0, 0, 0, 0}));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.diagnostics.count("the records are damaged: read up to there"), 1u);
}

TEST(PerfData, AContainersMapIsExplained) {
  PerfDataBuilder builder;
  builder.attribute(plain_attribute());
  Bytes namespaces;
  namespaces.put(std::uint32_t{100})
      .put(std::uint32_t{100})
      .words({7, 1, 1, 2, 2, 3, 3, 4, 0xF0000123, 5, 5, 6, 6, 7, 7});
  builder.record(kNamespaces, 0, with_trailer(namespaces, 1));
  builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "//anon", 2));
  builder.record(kSample, kUser, sample_body(3, 100, {kContextUser, 0x1100}));
  const Profile profile = read_good(builder.file());
  EXPECT_EQ(modules(profile, 0)[0], "/tmp/perf-100.map");
  EXPECT_EQ(
      profile.diagnostics.count(
          "process of a container: its perf map is named after its number there; copy it to perf-PID.map"),
      1u);
}

TEST(PerfData, AJitdumpOfAnotherClockIsUsedWithoutItsTimes) {
  MemoryFiles files;
  Bytes dump;
  for (const std::uint32_t word : {0x4A695444u, 1u, 40u, 62u, 0u, 100u}) dump.put(word);
  dump.words({0, 0});
  Bytes load;
  load.put(std::uint32_t{100})
      .put(std::uint32_t{100})
      .words({0x1100, 0x1100, 16, 0})
      .raw(std::string("JS:*late /x.js:1:1\0", 19));
  load.raw(std::string(16, '\x90'));
  dump.put(std::uint32_t{0})
      .put(static_cast<std::uint32_t>(16 + load.text().size()))
      .put(std::uint64_t{1000});
  files.add("/rec/jit-100.dump", dump.raw(load.text()).text());
  for (const bool is_monotonic : {false, true}) {
    PerfDataBuilder::Attribute attribute = plain_attribute();
    if (is_monotonic) attribute.flags |= 1 << 25, attribute.clock_id = 1;
    PerfDataBuilder builder;
    builder.attribute(attribute);
    builder.record(kMmap, kUser, mmap_body(0x1000, 0x1000, "//anon", 1));
    builder.record(kMmap, kUser, mmap_body(0x8000, 0x1000, "/gone/jit-100.dump", 1));
    builder.record(kSample, kUser, sample_body(999, 100, {kContextUser, 0x1108}));
    builder.record(kSample, kUser, sample_body(1000, 100, {kContextUser, 0x1108}));
    const Profile profile = read_good(builder.file(), &files);
    EXPECT_EQ(modules(profile, 0)[0], is_monotonic ? "/tmp/perf-100.map" : "/gone/jit-100.dump");
    EXPECT_EQ(modules(profile, 1)[0], "/gone/jit-100.dump");
  }
}

}  // namespace
}  // namespace nodescope
