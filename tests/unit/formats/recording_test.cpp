#include "formats/recording/recording.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "formats/recording/crc32.h"
#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using ::testing::HasSubstr;
using testing::profile_of;
using testing::read_test_file;
using testing::to_text;

// All that a recording keeps.
std::string everything(const Profile& profile) {
  std::string text = to_text(profile);
  for (const auto& [key, value] : profile.facts) text += fmt::format("fact {}={}\n", key, value);
  for (const Diagnostic& entry : profile.diagnostics.entries()) {
    text += fmt::format("diagnostic {} {} x{} {}\n", entry.what, static_cast<int>(entry.severity),
                        entry.count, entry.example);
  }
  for (const Process& process : profile.processes()) {
    text += fmt::format("process {} {}\n", process.pid, profile.text(process.name));
  }
  for (const Thread& thread : profile.threads()) {
    text += fmt::format("thread {} {}\n", thread.tid, profile.text(thread.name));
  }
  for (const Event& event : profile.events()) {
    text += fmt::format("event {} {}\n", profile.text(event.name), to_string(event.unit));
  }
  for (const SourceText& source : profile.sources)
    text += fmt::format("source {} {}\n", profile.text(source.file), source.text);
  return text + fmt::format("clock {}\n", profile.clock_offset_ns);
}

// The samples in order, each by what it says.
std::vector<std::string> sample_lines(const Profile& profile) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Sample sample = profile.samples[i];
    std::string line =
        fmt::format("{} {} {} {} {}:", sample.time_ns, profile.thread(sample.context.thread).tid,
                    sample.context.cpu, sample.context.event.value, sample.weight);
    for (const FrameId frame : profile.stacks.unwind(sample.stack)) {
      line += fmt::format(" {}", profile.text(profile.frames[frame].function));
    }
    lines.push_back(line);
  }
  return lines;
}

std::string write(const Profile& profile, const RecordingOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(RecordingWriter(sink, options).finish(profile));
  return sink.text();
}

Result<Profile> read(std::string_view file) {
  MemorySource source(file, "test.nscope");
  return kRecordingFormat.read(source, {});
}

struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
  recording::ChunkHeader header;
};

std::vector<Place> chunks_of(std::string_view file) {
  Diagnostics damage;
  recording::ChunkScanner scanner(as_byte_span(file), damage);
  std::vector<Place> places;
  while (const auto chunk = scanner.next()) {
    const std::size_t end = chunk->offset + recording::kChunkHeaderBytes + chunk->stored.size();
    places.push_back({chunk->offset, end, chunk->header});
  }
  EXPECT_TRUE(damage.entries().empty());
  return places;
}

FrameId add_frame(Profile& profile, std::string_view function, FrameKind kind, JsTier tier = JsTier::kNone,
                  bool inlined = false) {
  Frame frame;
  frame.function = profile.strings.intern(function);
  frame.file = profile.strings.intern(kind == FrameKind::kJs ? "/app/server.js" : "");
  frame.module = profile.strings.intern(kind == FrameKind::kNative ? "/usr/bin/node" : "");
  frame.line = kind == FrameKind::kJs ? 42 : 0;
  frame.column = kind == FrameKind::kJs ? std::numeric_limits<std::uint32_t>::max() : 0;
  frame.kind = kind;
  frame.tier = tier;
  frame.inlined = inlined;
  if (inlined) {
    frame.function_line = 2;
    frame.function_column = 300;
  }
  return profile.frames.intern(frame);
}

// Something of everything that the model can hold.
Profile rich_profile(std::size_t samples = 100) {
  Profile profile;
  const EventId cpu = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const EventId faults = profile.intern_event("page-faults", Unit::kCount);
  const ProcessId node = profile.intern_process(4984, "node");
  const ProcessId child = profile.intern_process(-1, "child");
  const std::vector<ThreadId> threads = {ThreadId{}, profile.intern_thread(node, 4984, "node"),
                                         profile.intern_thread(node, 4990, "libuv-worker"),
                                         profile.intern_thread(child, 7, "sh")};
  profile.intern_thread(child, 8, "never sampled");

  std::vector<StackId> stacks = {kEmptyStack};
  for (std::size_t kind = 0; kind < kFrameKindCount; ++kind) {
    for (std::size_t tier = 0; tier < 5; ++tier) {
      const auto frame = add_frame(profile, fmt::format("f{}\xFF;\n{}", kind, tier),
                                   static_cast<FrameKind>(kind), static_cast<JsTier>(tier), tier % 2 == 1);
      stacks.push_back(profile.stacks.push(stacks[stacks.size() * 7 % stacks.size()], frame));
      stacks.push_back(profile.stacks.push(stacks.back(), frame));
    }
  }
  for (std::size_t i = 0; i < samples; ++i) {
    const auto time = static_cast<std::int64_t>(i * 10'101'010 + i * i % 977);
    const SampleContext context{threads[i % 4], static_cast<std::int32_t>(i % 3) - 1,
                                i % 5 == 0 ? faults : cpu};
    profile.samples.add({time, stacks[i * 31 % stacks.size()], context, i % 11 == 0 ? i : 10'101'010});
  }
  const StringId file = profile.strings.intern("/usr/bin/node");
  profile.mappings.push_back({node, 0x400000, 0x500000, 0x1000, file, profile.strings.intern("abcdef")});
  profile.mappings.push_back({child, 0xFFFF800000000000, 0xFFFFFFFFFFFFFFFF, 0, file, StringId{}});
  profile.markers.push_back({5, 1'000'000, threads[1], MarkerKind::kGc, profile.strings.intern("Scavenge")});
  profile.markers.push_back({-7, 0, ThreadId{}, MarkerKind::kStall, StringId{}});
  profile.markers.push_back({8, 9, threads[1], MarkerKind::kLost, profile.strings.intern("7 lost")});
  profile.sources.push_back({profile.strings.intern("/app/server.js"), "let x = '\xFF';\n"});
  profile.sources.push_back({profile.strings.intern("/app/empty.js"), ""});
  profile.facts = {{"command", "node server.js"}, {"host", "db-1"}, {"", "empty key"}};
  profile.diagnostics.warn("samples lost by the kernel", "ring buffer of cpu 1");
  profile.diagnostics.add(Severity::kError, "other", "", 12);
  profile.lost_samples = 17;
  profile.clock_offset_ns = 1'700'000'000'000'000'000;
  return profile;
}

TEST(Recording, KeepsEverything) {
  const Profile profile = rich_profile();
  const auto again = read(write(profile));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(everything(*again), everything(profile));
  EXPECT_EQ(sample_lines(*again), sample_lines(profile));
  EXPECT_EQ(write(*again), write(profile));
}

TEST(Recording, KeepsEverythingInChunksOfAnySize) {
  const Profile profile = rich_profile();
  for (const std::uint32_t samples_per_chunk : {1u, 2u, 3u, 7u, 99u}) {
    for (const std::uint32_t chunks_per_tables : {1u, 2u, 5u, 1000u}) {
      const auto again = read(write(profile, {samples_per_chunk, chunks_per_tables}));
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(everything(*again), everything(profile)) << samples_per_chunk << " " << chunks_per_tables;
      EXPECT_EQ(sample_lines(*again), sample_lines(profile));
    }
  }
}

TEST(Recording, KeepsLargeSources) {
  Profile profile = rich_profile();
  for (int i = 0; i < 6; ++i) {
    const std::string text(5 << 20, static_cast<char>('a' + i));
    profile.sources.push_back({profile.strings.intern(fmt::format("/app/{}.js", i)), text});
  }
  const auto again = read(write(profile));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(everything(*again), everything(profile));
}

TEST(Recording, TellsItsNamesWithoutItsSamples) {
  const Profile profile = profile_of("main;js:parse 3\nmain;gc:Scavenge 2");
  const std::string file = testing::write_as(kRecordingFormat, profile);
  const auto names = read_recording_without_samples(as_byte_span(file), "file");
  ASSERT_TRUE(names.has_value());
  EXPECT_EQ(names->samples.size(), 0u);
  EXPECT_EQ(names->lost_samples, 0u);
  EXPECT_EQ(names->frames.size(), profile.frames.size());
  EXPECT_EQ(names->facts, profile.facts);
  EXPECT_TRUE(names->diagnostics.entries().empty());
  EXPECT_FALSE(read_recording_without_samples(as_byte_span("NSCOPE"), "file").has_value());
}

TEST(Recording, RoundsTimesWhereThatIsWanted) {
  Profile profile = profile_of("main;f 1");
  const SampleContext context = profile.samples.context(0);
  const StackId stack = profile.samples.stack(0);
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  profile.samples = {};
  for (const std::int64_t time : {std::int64_t{19'999}, std::int64_t{20'000}, std::int64_t{-1}, kLeast})
    profile.samples.add({time, stack, context, 1});
  StringSink sink;
  RecordingOptions options;
  options.time_step_ns = 10'000;
  ASSERT_TRUE(RecordingWriter(sink, options).finish(profile));
  const auto again = read(sink.text());
  ASSERT_TRUE(again);
  std::vector<std::int64_t> times;
  for (std::size_t i = 0; i < again->samples.size(); ++i) times.push_back(again->samples[i].time_ns);
  EXPECT_THAT(times, ::testing::ElementsAre(10'000, 20'000, -10'000, kLeast));
  EXPECT_EQ(again->diagnostics.count("times are rounded, so that the file is smaller"), 1u);
}

TEST(Recording, KeepsAnEmptyProfile) {
  const auto again = read(write(Profile{}));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(everything(*again), everything(Profile{}));
}

TEST(Recording, KeepsTheLargestNumbers) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  Profile profile = profile_of("a;b 1");
  const StackId stack = profile.samples.stack(0);
  for (const std::int64_t time : {kMax, kMin, std::int64_t{0}, kMin, kMax, std::int64_t{-1}}) {
    profile.samples.add(time, stack, ContextId{},
                        std::numeric_limits<std::uint64_t>::max() - profile.samples.size() % 2);
  }
  const auto again = read(write(profile));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(everything(*again), everything(profile));
}

TEST(Recording, KeepsAStackOfAMillionFrames) {
  Profile profile;
  const EventId event = profile.intern_event("samples", Unit::kSamples);
  std::vector<FrameId> frames;
  for (int i = 0; i < 5000; ++i) {
    frames.push_back(add_frame(profile, fmt::format("{:01000}", i), FrameKind::kNative));
  }
  StackId stack = kEmptyStack;
  for (std::size_t i = 0; i < 1'000'000; ++i) stack = profile.stacks.push(stack, frames[i % frames.size()]);
  profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, event}, 1});
  const std::string file = write(profile, {.chunks_per_tables = 1});
  EXPECT_GT(chunks_of(file).size(), 2u) << "definitions fill more than one chunk";
  const auto again = read(file);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->stacks.size(), profile.stacks.size());
  EXPECT_EQ(again->stacks.unwind(again->samples.stack(0)), profile.stacks.unwind(stack));
}

TEST(Recording, GrowsWithTheProfile) {
  const Profile whole = rich_profile();
  Profile growing = rich_profile(0);
  StringSink sink;
  RecordingWriter writer(sink, {.chunks_per_tables = 4});
  for (std::size_t i = 0; i < whole.samples.size(); ++i) {
    growing.samples.add(whole.samples[i]);
    if (i % 9 == 0) {
      ASSERT_TRUE(writer.append(growing));
    }
    if (i == 50) growing.facts["stopped by"] = "Ctrl-C";
  }
  ASSERT_TRUE(writer.append(growing));
  const std::size_t flushed = sink.text().size();
  ASSERT_TRUE(writer.append(growing));
  EXPECT_EQ(sink.text().size(), flushed) << "nothing new, nothing written";
  ASSERT_TRUE(writer.finish(growing));
  EXPECT_EQ(writer.written_bytes(), sink.text().size());

  const auto again = read(sink.text());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(sample_lines(*again), sample_lines(whole));
  EXPECT_EQ(everything(*again), everything(growing));
}

TEST(Recording, GoesOnAfterTheProfileHasForgottenWhatIsWritten) {
  const Profile whole = rich_profile();
  Profile rotated = rich_profile(0);
  const std::vector<Marker> markers = std::exchange(rotated.markers, {});
  StringSink sink;
  RecordingWriter writer(sink, {.chunks_per_tables = 4});
  for (std::size_t i = 0; i < whole.samples.size(); ++i) {
    rotated.samples.add(whole.samples[i]);
    if (i < markers.size()) rotated.markers.push_back(markers[i]);
    if (i % 9 != 0) continue;
    ASSERT_TRUE(writer.append(rotated));
    rotated.samples = {};
    rotated.markers.clear();
    writer.forget_samples();
  }
  ASSERT_TRUE(writer.finish(rotated));
  const auto again = read(sink.text());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(sample_lines(*again), sample_lines(whole));
  EXPECT_EQ(everything(*again), everything(whole));
}

// Takes half of the third write and refuses it, as a disk that fills up.
class FullDisk final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    if (++writes_ == 3) {
      text_ += bytes.substr(0, bytes.size() / 2);
      return fail(ErrorCode::kSystem, "no space left on device");
    }
    text_ += bytes;
    return {};
  }
  const std::string& text() const { return text_; }

 private:
  int writes_ = 0;
  std::string text_;
};

TEST(Recording, LosesNothingWhenADiskIsFullForAWhile) {
  const Profile profile = rich_profile();
  FullDisk disk;
  RecordingWriter writer(disk, {.samples_per_chunk = 10});
  EXPECT_FALSE(writer.append(profile));
  ASSERT_TRUE(writer.finish(profile));
  const auto again = read(disk.text());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(profile));
  EXPECT_EQ(sample_lines(*again), sample_lines(profile));
  EXPECT_EQ(again->diagnostics.count("damaged parts of the recording are skipped"), 1u);
}

TEST(Recording, IsReadUpToWhereItIsCut) {
  const Profile profile = rich_profile(40);
  const std::string file = write(profile, {.samples_per_chunk = 10, .chunks_per_tables = 2});
  const std::vector<std::string> lines = sample_lines(profile);
  const std::vector<Place> chunks = chunks_of(file);
  ASSERT_EQ(chunks.size(), 5u);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string prefix = file.substr(0, size);
    const auto again = read(prefix);
    if (size < chunks[0].end) {
      EXPECT_FALSE(again) << size;
      continue;
    }
    ASSERT_TRUE(again) << size << " " << again.error().message;
    std::size_t whole = 0;
    bool at_boundary = false;
    for (const Place& chunk : chunks) {
      if (chunk.end <= size) whole += chunk.header.sample_count;
      at_boundary = at_boundary || chunk.end == size;
    }
    EXPECT_EQ(sample_lines(*again),
              std::vector(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(whole)));
    EXPECT_EQ(again->diagnostics.count("recording was not finished"), 1u) << size;
    EXPECT_EQ(again->diagnostics.count("recording ends in the middle of a chunk"), at_boundary ? 0u : 1u)
        << size;
  }
}

// A changed byte may cost a chunk, but what is still shown is true, and the loss is told.
TEST(Recording, NeverShowsWhatAChangedByteMade) {
  const Profile profile = rich_profile(40);
  const std::string file = write(profile, {.samples_per_chunk = 10, .chunks_per_tables = 2});
  const std::string good = everything(profile);
  const std::vector<std::string> all_lines = sample_lines(profile);
  const std::set<std::string> lines(all_lines.begin(), all_lines.end());
  for (std::size_t i = 0; i < file.size(); ++i) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
    const auto again = read(changed);
    if (!again) {
      EXPECT_LT(i, recording::kFileHeaderBytes) << "one damaged chunk must not cost the others";
      continue;
    }
    EXPECT_NE(everything(*again), good) << "byte " << i << ": the damage is not told";
    EXPECT_EQ(again->samples.size() + again->lost_samples, profile.samples.size() + profile.lost_samples)
        << i;
    const bool lost_names = again->diagnostics.count("samples whose stack was lost with a damaged chunk") +
                                again->diagnostics.count("names lost with a damaged chunk") >
                            0;
    for (const std::string& line : sample_lines(*again))
      EXPECT_TRUE(lost_names || lines.contains(line)) << line;
  }
}

TEST(Recording, AHoleCostsNamesUntilTheTablesBeginAnew) {
  const Profile profile = rich_profile();
  const std::string file = write(profile, {.samples_per_chunk = 5, .chunks_per_tables = 4});
  const std::vector<Place> chunks = chunks_of(file);
  const std::vector<std::string> lines = sample_lines(profile);
  ASSERT_GT(chunks.size(), 10u);
  for (std::size_t hole = 0; hole + 1 < chunks.size(); ++hole) {
    std::string rest = file;
    rest.erase(chunks[hole].begin, chunks[hole].end - chunks[hole].begin);
    const auto again = read(rest);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->diagnostics.count("chunks are missing"), 1u);
    EXPECT_EQ(again->lost_samples, profile.lost_samples + chunks[hole].header.sample_count);

    // Whatever is named is named truly; what was defined in the hole is unknown; after it all is known again.
    const std::vector<std::string> shown = sample_lines(*again);
    std::vector<std::string> expected;
    std::vector<bool> must_be_known;
    for (std::size_t chunk = 0; chunk + 1 < chunks.size(); ++chunk) {
      if (chunk == hole) continue;
      const bool same_tables = chunks[chunk].header.tables_sequence == chunks[hole].header.tables_sequence;
      for (std::size_t k = 0; k < chunks[chunk].header.sample_count; ++k) {
        expected.push_back(lines[chunks[chunk].header.first_sample + k]);
        must_be_known.push_back(!same_tables || chunk < hole);
      }
    }
    ASSERT_EQ(shown.size(), expected.size());
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (must_be_known[i]) {
        EXPECT_EQ(shown[i], expected[i]) << "hole " << hole;
      }
      const std::string_view frames = std::string_view(shown[i]).substr(shown[i].find(':') + 1);
      const std::string_view true_frames = std::string_view(expected[i]).substr(expected[i].find(':') + 1);
      if (frames.find('f') != std::string_view::npos) {
        EXPECT_EQ(frames, true_frames.substr(true_frames.size() - frames.size()));
      }
    }
  }
}

TEST(Recording, SkipsWhatIsInsertedBetweenChunks) {
  const Profile profile = rich_profile();
  std::string file = write(profile, {.samples_per_chunk = 10});
  const std::vector<Place> chunks = chunks_of(file);
  file.insert(chunks[3].begin, "garbage with \xF5NSchunk inside");
  const auto again = read(file);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(profile));
  EXPECT_EQ(again->diagnostics.count("damaged parts of the recording are skipped"), 2u);
}

TEST(Recording, ReadsAChunkOnlyOnce) {
  const Profile profile = rich_profile();
  std::string file = write(profile, {.samples_per_chunk = 10});
  const std::vector<Place> chunks = chunks_of(file);
  file.insert(chunks[4].begin, file.substr(chunks[2].begin, chunks[2].end - chunks[2].begin));
  const auto again = read(file);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(profile));
  EXPECT_EQ(again->diagnostics.count("chunks that repeat earlier ones are skipped"), 1u);
}

TEST(Recording, SurvivesADamagedFileHeader) {
  const Profile profile = rich_profile();
  std::string file = write(profile);
  file[1] = '?';
  EXPECT_TRUE(recording::is_recording(file));
  const auto again = read(file);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(profile));
  EXPECT_EQ(again->diagnostics.count("file header is damaged"), 1u);
}

TEST(Recording, RefusesAnotherMajorVersion) {
  std::string file = write(rich_profile());
  const auto header = encode(recording::FileHeader{.major = 2});
  file.replace(0, header.size(), as_text(header));
  const auto again = read(file);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(again.error().message, HasSubstr("version 2.1"));
}

TEST(Recording, IsRecognisedByItsBytes) {
  EXPECT_TRUE(kRecordingFormat.recognise(write(Profile{})));
  EXPECT_FALSE(kRecordingFormat.recognise(""));
  EXPECT_FALSE(kRecordingFormat.recognise("NSCOPE"));
  EXPECT_FALSE(kRecordingFormat.recognise("NSCOPE is a name\n"));
}

TEST(Recording, AnyPrefixIsSafe) {
  testing::read_every_prefix(kRecordingFormat, write(rich_profile()));
}

TEST(Recording, HeadersTellTimesWithoutDecompressing) {
  const Profile profile = rich_profile();
  const std::vector<Place> chunks = chunks_of(write(profile, {.samples_per_chunk = 10}));
  ASSERT_EQ(chunks.size(), 11u);
  EXPECT_EQ(chunks[3].header.first_sample, 30u);
  EXPECT_EQ(chunks[3].header.sample_count, 10u);
  EXPECT_EQ(chunks[3].header.first_time_ns, profile.samples.time_ns(30));
  EXPECT_EQ(chunks[3].header.last_time_ns, profile.samples.time_ns(39));
  EXPECT_EQ(chunks[10].header.kind, recording::ChunkKind::kEnd);
}

// 34 million samples of a day must stay below 40 MB, so 1.1 bytes each.
TEST(Recording, IsSmall) {
  Profile profile =
      profile_of("js:main;js:serve;native:epoll_wait 1\njs:main;js:render 1\njs:main;gc:Scavenge 1");
  const std::vector<StackId> stacks = {profile.samples.stack(0), profile.samples.stack(1),
                                       profile.samples.stack(2)};
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t tick = i / 4;
    const ThreadId thread = profile.intern_thread(ProcessId{}, i % 4 + 1, "node");
    profile.samples.add({tick * 10'101'010 + tick * 7919 % 5000,
                         stacks[static_cast<std::size_t>(i) * 7 / 5 % 3],
                         {thread, kUnknownCpu, EventId{}},
                         1});
  }
  EXPECT_LT(write(profile).size(), 110'000u);
}

TEST(RecordingChecksum, IsThatOfZlib) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    const auto expected =
        ::crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
    EXPECT_EQ(recording::crc32(as_byte_span(text)), expected);
    text += static_cast<char>(i * 37);
  }
}

// Files that a script made from the specification alone; see how.txt beside them.
class RecordingGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordingGolden, ReadsWhatTheSpecificationSays) {
  const std::string folder = "tests/golden/recording/" + GetParam() + "/";
  const std::string file = read_test_file(folder + "input");
  EXPECT_TRUE(recording::is_recording(file.substr(0, kHeadBytes)));
  const auto profile = read(file);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(everything(*profile), read_test_file(folder + "expected"));
  const auto again = read(write(*profile));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(everything(*again), everything(*profile));
  testing::read_every_prefix(kRecordingFormat, file);
}

INSTANTIATE_TEST_SUITE_P(Files, RecordingGolden, ::testing::Values("plain", "zstd", "damaged"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace nodescope
