#include "perf/record.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "perf/losses.h"
#include "support/perf_data_builder.h"

namespace nodescope {
namespace {

using namespace perf;
using nodescope::testing::Bytes;
using nodescope::testing::PerfDataBuilder;

constexpr std::uint64_t kSampleType = kSampleIp | kSampleTid | kSampleTime | kSampleCpu;

EventAttributes events_of_one() {
  const std::string attribute = PerfDataBuilder::make_attribute({.sample_type = kSampleType});
  EventAttributes events;
  events.add(*EventAttribute::parse(as_byte_span(attribute)), {});
  return events;
}

// Who ran where and when, as sample_id_all adds it.
Bytes with_trailer(Bytes body, std::uint64_t time) {
  return body.put(std::int32_t{7}).put(std::int32_t{8}).put(time).put(std::uint32_t{3}).put(std::uint32_t{0});
}

std::expected<Record, RecordFault> parse(RecordType type, std::uint16_t misc, const std::string& body) {
  const RecordHeader header{type, misc, static_cast<std::uint16_t>(body.size() + sizeof(RecordHeader))};
  return parse_record(events_of_one(), header, as_byte_span(body));
}

template <typename Content>
Content content_of(RecordType type, std::uint16_t misc, const Bytes& body) {
  // What is returned may point into it.
  static std::deque<std::string> bodies;
  const auto record = parse(type, misc, bodies.emplace_back(with_trailer(body, 42).text()));
  if (!record || !std::holds_alternative<Content>(record->content)) {
    ADD_FAILURE() << "type " << static_cast<int>(type);
    return {};
  }
  EXPECT_EQ(record->time, 42u);
  EXPECT_EQ(record->origin.tid, 8);
  EXPECT_EQ(record->origin.cpu, 3u);
  return std::get<Content>(record->content);
}

Bytes mmap2_body() {
  Bytes body;
  body.put(std::int32_t{7}).put(std::int32_t{8}).words({0x1000, 0x2000, 0x3000, 0, 0, 0, 0}).padded("/bin/x");
  return body;
}

TEST(PerfRecord, SaysWhatItIs) {
  const auto mapped = content_of<MmapRecord>(RecordType::kMmap2, kMiscUser, mmap2_body());
  EXPECT_EQ(mapped.pid, 7);
  EXPECT_EQ(mapped.range, (Range<Address>{Address{0x1000}, Address{0x3000}}));
  EXPECT_EQ(mapped.file_offset, 0x3000u);
  EXPECT_EQ(mapped.path, "/bin/x");

  Bytes comm;
  comm.put(std::int32_t{7}).put(std::int32_t{8}).padded("node");
  EXPECT_EQ(content_of<CommRecord>(RecordType::kComm, kMiscCommExec, comm).name, "node");
  EXPECT_TRUE(content_of<CommRecord>(RecordType::kComm, kMiscCommExec, comm).is_exec);
  EXPECT_FALSE(content_of<CommRecord>(RecordType::kComm, 0, comm).is_exec);

  Bytes fork;
  fork.put(std::int32_t{7}).put(std::int32_t{1}).put(std::int32_t{8}).put(std::int32_t{2}).words({99});
  const auto forked = content_of<ForkRecord>(RecordType::kFork, 0, fork);
  EXPECT_EQ(std::tuple(forked.pid, forked.parent_pid, forked.tid, forked.parent_tid), std::tuple(7, 1, 8, 2));
  EXPECT_EQ(content_of<ExitRecord>(RecordType::kExit, 0, fork).tid, 8);

  EXPECT_EQ(content_of<LostRecord>(RecordType::kLost, 0, Bytes().words({5, 12})).count, 12u);
  EXPECT_EQ(content_of<LostSamplesRecord>(RecordType::kLostSamples, 0, Bytes().words({12})).count, 12u);
  EXPECT_TRUE(content_of<LostSamplesRecord>(RecordType::kLostSamples, kMiscLostSamplesBpf, Bytes().words({1}))
                  .is_filtered);

  const Bytes throttle = Bytes().words({42, 1, 77});
  EXPECT_EQ(content_of<ThrottleRecord>(RecordType::kThrottle, 0, throttle).stream, 77u);
  EXPECT_TRUE(content_of<ThrottleRecord>(RecordType::kThrottle, 0, throttle).begins);
  EXPECT_FALSE(content_of<ThrottleRecord>(RecordType::kUnthrottle, 0, throttle).begins);

  EXPECT_TRUE(content_of<SwitchRecord>(RecordType::kSwitch, kMiscSwitchOut, {}).leaves);
  EXPECT_FALSE(content_of<SwitchRecord>(RecordType::kSwitchCpuWide, 0, Bytes().words({0})).leaves);

  Bytes namespaces;
  namespaces.put(std::int32_t{7}).put(std::int32_t{8}).words({4, 0, 10, 0, 11, 0, 12, 0, 13});
  EXPECT_EQ(content_of<NamespacesRecord>(RecordType::kNamespaces, 0, namespaces).pid_namespace, 13u);

  Bytes symbol;
  symbol.words({0xFFFFFFFFC0000000}).put(std::uint32_t{64}).put(std::uint16_t{1}).put(std::uint16_t{1});
  symbol.padded("bpf_prog_x");
  const auto generated = content_of<KernelSymbolRecord>(RecordType::kKsymbol, 0, symbol);
  EXPECT_EQ(generated.name, "bpf_prog_x");
  EXPECT_EQ(generated.range.size_bytes(), 64u);
  EXPECT_TRUE(generated.is_removed);

  EXPECT_TRUE(content_of<OtherRecord>(static_cast<RecordType>(11), 0, {}).is_known);
  const auto newer = content_of<OtherRecord>(static_cast<RecordType>(40), 0, {});
  Diagnostics diagnostics;
  note_other(newer, diagnostics);
  EXPECT_EQ(diagnostics.count("records of a kind that is not known: left out"), 1u);
}

TEST(PerfRecord, OfASampleHasItsEvent) {
  Bytes body;
  body.words({0x1234}).put(std::int32_t{7}).put(std::int32_t{8}).words({42, 3});
  const auto record = parse(RecordType::kSample, kMiscUser, body.text());
  ASSERT_TRUE(record);
  const auto& sample = std::get<SampleRecord>(record->content);
  EXPECT_EQ(sample.ip, 0x1234u);
  EXPECT_EQ(sample.event, 0u);
  EXPECT_EQ(record->time, 42u);
  EXPECT_EQ(record->cpu_mode, kMiscUser);
  EXPECT_EQ(parse(RecordType::kSample, 0, body.text().substr(8)).error(), RecordFault::kSampleTooShort);
  const RecordHeader header{RecordType::kSample, 0, 8};
  EXPECT_EQ(parse_record(EventAttributes(), header, {}).error(), RecordFault::kUnknownEvent);
}

// Every kind cut off anywhere, and of every length that a hostile file may claim.
TEST(PerfRecord, SurvivesEveryPrefix) {
  const std::string body = with_trailer(mmap2_body(), 42).text();
  for (std::uint32_t type = 0; type < 64; ++type) {
    for (std::size_t size = 0; size <= body.size(); ++size) {
      const std::string prefix = body.substr(0, size);
      const auto record = parse(static_cast<RecordType>(type), 0xFFFF, prefix);
      if (!record) {
        EXPECT_FALSE(to_string(record.error()).empty());
      }
    }
  }
}

TEST(PerfLosses, ThrottledTimeIsAMarkerAndCounted) {
  Profile profile;
  const ThreadId thread = profile.intern_thread(profile.intern_process(7, "node"), 8, "node");
  Losses losses(profile);
  losses.throttle({.stream = 1, .begins = true}, 100, {});
  losses.throttle({.stream = 2, .begins = true}, 110, {});
  losses.throttle({.stream = 1, .begins = false}, 150, {thread, 90});
  losses.see_sample(0, 400);
  losses.finish();
  ASSERT_EQ(profile.markers.size(), 2u);
  EXPECT_EQ(profile.markers[0],
            (Marker{100, 50, thread, MarkerKind::kLost, profile.strings.intern("throttled")}));
  EXPECT_EQ(profile.markers[1],
            (Marker{110, 290, ThreadId{}, MarkerKind::kLost, profile.strings.intern("throttled")}));
  EXPECT_EQ(profile.diagnostics.count("the kernel throttled sampling: some time has fewer samples"), 2u);
}

TEST(PerfLosses, ALossBeginsAfterTheLastSampleOfItsProcessor) {
  Profile profile;
  Losses losses(profile);
  losses.see_sample(2, 70);
  losses.see_sample(3, 80);
  losses.add({.pid = {}, .tid = {}, .cpu = 2}, 100, 5, {});
  losses.add({}, 100, 1, {});
  ASSERT_EQ(profile.markers.size(), 2u);
  EXPECT_EQ(profile.markers[0].time_ns, 70);
  EXPECT_EQ(profile.markers[0].duration_ns, 30);
  EXPECT_EQ(profile.text(profile.markers[0].name), "5 lost");
  EXPECT_EQ(profile.markers[1].duration_ns, 0);
}

}  // namespace
}  // namespace nodescope
