#include "formats/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "formats/compression.h"
#include "formats/format.h"
#include "formats/pprof/pprof.h"
#include "formats/recording/recording.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::profile_of;
using testing::to_text;

std::string gzip(std::string_view text) {
  StringSink out;
  GzipSink sink(out);
  EXPECT_TRUE(sink.write(text));
  EXPECT_TRUE(sink.finish());
  return out.text();
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

// Content that can only be read in order, as from standard input.
class Pipe final : public ByteSource {
 public:
  explicit Pipe(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    const std::size_t count = std::min({into.size(), text_.size() - position_, std::size_t{1000}});
    std::ranges::copy(as_byte_span(text_).subspan(position_, count), into.begin());
    position_ += count;
    return count;
  }
  std::string_view name() const override { return "standard input"; }

 private:
  std::string text_;
  std::size_t position_ = 0;
};

std::string read_all(ByteSource& source) {
  std::string storage;
  const auto bytes = read_whole(source, storage, 1 << 30);
  EXPECT_TRUE(bytes);
  return bytes ? std::string(as_text(*bytes)) : "";
}

std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < kHeadBytes * 3; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

TEST(OpenContent, LeavesPlainContentAlone) {
  const std::string text = long_text();
  const auto content = open_content(std::make_unique<MemorySource>(text, "a.txt"));
  ASSERT_TRUE(content);
  EXPECT_EQ((*content)->head(), text.substr(0, kHeadBytes));
  EXPECT_EQ((*content)->size(), text.size());
  EXPECT_EQ((*content)->name(), "a.txt");
  ASSERT_TRUE((*content)->mapped());
  EXPECT_EQ(static_cast<const void*>((*content)->mapped()->data()), text.data()) << "no copy";
  std::string part(4, '\0');
  EXPECT_EQ((*content)->read_at(5, std::as_writable_bytes(std::span(part))), 4u);
  EXPECT_EQ(part, text.substr(5, 4));
  EXPECT_EQ(read_all(**content), text);
}

TEST(OpenContent, PeeksIntoAPipeWithoutLosingAByte) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, kHeadBytes, kHeadBytes + 1, kHeadBytes * 3}) {
    const std::string text = long_text().substr(0, size);
    const auto content = open_content(std::make_unique<Pipe>(text));
    ASSERT_TRUE(content);
    EXPECT_EQ((*content)->head(), text.substr(0, kHeadBytes));
    EXPECT_FALSE((*content)->size());
    EXPECT_FALSE((*content)->mapped());
    EXPECT_EQ(read_all(**content), text);
  }
}

TEST(OpenContent, UndoesTwoLayers) {
  const std::string text = long_text();
  for (const std::string& packed :
       {gzip(text), zstd(text), gzip(zstd(text)), zstd(gzip(text)), gzip(gzip(text))}) {
    const auto content = open_content(std::make_unique<Pipe>(packed));
    ASSERT_TRUE(content);
    EXPECT_EQ((*content)->head(), text.substr(0, kHeadBytes));
    EXPECT_EQ(read_all(**content), text);
    EXPECT_TRUE((*content)->damage().entries().empty());
  }
  const auto content = open_content(std::make_unique<Pipe>(gzip(gzip(gzip(text)))));
  ASSERT_FALSE(content);
  EXPECT_THAT(content.error().message, HasSubstr("compressed more than 2 times over"));
}

TEST(OpenContent, TellsDamageBelow) {
  const std::string packed = gzip(zstd(long_text()));
  const auto content = open_content(std::make_unique<Pipe>(packed.substr(0, packed.size() - 100)));
  ASSERT_TRUE(content);
  read_all(**content);
  EXPECT_EQ((*content)->damage().count("compressed content is cut short"), 2u) << "both layers";
}

TEST(OpenContent, RefusesWhatGivesNothing) {
  const auto content = open_content(std::make_unique<Pipe>(gzip(long_text()).substr(0, 12)));
  ASSERT_FALSE(content);
  EXPECT_THAT(content.error().message,
              AllOf(HasSubstr("nothing could be decompressed"), HasSubstr("standard input")));
}

Result<Profile> read(std::string text, std::string name = "x.bin") {
  return read_profile(std::make_unique<MemorySource>(text, std::move(name)), {});
}

TEST(ReadProfile, RecognisesByContent) {
  const Profile profile = profile_of("main;parse;read 3\nmain;idle 1");
  for (const Format* format : {&kPprofFormat, &kRecordingFormat}) {
    StringSink sink;
    ASSERT_TRUE(format->write(profile, {}, sink));
    for (const std::string& file : {sink.text(), gzip(sink.text()), zstd(sink.text())}) {
      const auto again = read(file, "misleading.svg");
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(to_text(*again), to_text(profile));
      EXPECT_EQ(again->facts.at("format"), format->name);
    }
  }
}

TEST(ReadProfile, CarriesTheDamageOfACutStream) {
  StringSink sink;
  ASSERT_TRUE(kRecordingFormat.write(profile_of("main;parse;read 3\nmain;idle 1"), {}, sink));
  const std::string packed = gzip(sink.text());
  const auto profile = read(packed.substr(0, packed.size() - 4));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->diagnostics.count("compressed content is cut short"), 1u);
}

TEST(ReadProfile, SaysWhatItSawInstead) {
  const auto elf = read(
      "\x7F"
      "ELF\x02\x01\x01");
  ASSERT_FALSE(elf);
  EXPECT_THAT(
      elf.error().message,
      AllOf(HasSubstr("x.bin: not a profile that nodescope knows (starts with 7f 45 4c 46: an ELF file"),
            HasSubstr("Known: "), HasSubstr("pprof"), HasSubstr("nscope")));
  EXPECT_THAT(read(gzip("%PDF-1.4\x01 document")).error().message, HasSubstr("a PDF document"));
  EXPECT_THAT(read(std::string("\0\x01\x02\x03\x04", 5)).error().message,
              HasSubstr("starts with 00 01 02 03: binary"));
}

// Texts of other tools that look like folded stacks or perf script, with a way out each.
TEST(ReadProfile, NamesWhatOtherToolsPrint) {
  struct Case {
    std::string text;
    std::string_view answer;
  };
  const std::vector<Case> cases = {
      {"Statistical profiling result from isolate0x1-v8.log, (939 ticks, 0 unaccounted, 0 excluded).\n\n"
       " [Shared libraries]:\n   ticks  total  nonlib   name\n    423   45.0%          /usr/bin/node\n",
       "give the isolate*.log"},
      {"# callgrind format\nversion: 1\nevents: Ir\nfn=(1) main\n16 400\n+1 50\n", "callgrind_annotate"},
      {"version: 1\ncreator: callgrind-3.19\nevents: Ir\nfn=(1) main\n16 400\n+1 50\n", "callgrind_annotate"},
      {"\tSun Nov  2 18:28 2025 Time and Allocation Profiling Report  (Final)\n\n\t   app +RTS -p "
       "-RTS\n\nmain  Main  "
       "app.hs:3:1-9  50.0  12.5\n",
       "ghc-prof-flamegraph"},
      {"# tracer: nop\n#\n           <...>-1977  [000] d..2 17284.993652: sched_switch: prev_comm=a\n"
       "           <...>-1977  [000] d..2 17284.993653: sched_switch: prev_comm=b\n",
       "ftrace"},
      {"File: app\nType: cpu\nShowing nodes accounting for 1s, 100% of 1s total\n      flat  flat%\n        "
       "1s  100%\n",
       "pprof -proto"},
      {"{\"version\":1,\"flamebearer\":{\"names\":[\"" + std::string(kHeadBytes, ';'), "export it as pprof"},
      {"{\"version\":1,\"recording\":{\"displayName\":\"Timeline\",\"records\":[\"" +
           std::string(kHeadBytes, ';'),
       "Safari"},
      {std::string("\xFF\xFEm\0a\0i\0n\0 \0", 12), "iconv -f UTF-16"},
  };
  for (const Case& one : cases) {
    const auto profile = read(one.text);
    ASSERT_FALSE(profile) << one.text.substr(0, 60);
    EXPECT_THAT(profile.error().message, HasSubstr(one.answer));
  }
}

TEST(ReadProfile, NamesTheCommandForWhatIsNoProfile) {
  EXPECT_THAT(read(R"({"header":{"reportVersion":3,"event":"x"}})").error().message,
              HasSubstr("nodescope info"));
  EXPECT_THAT(read(R"({"snapshot":{"meta":{"node_fields":[]}}})").error().message,
              HasSubstr("nodescope heap"));
  const std::string core = std::string(
                               "\x7F"
                               "ELF\x02\x01\x01",
                               7) +
                           std::string(9, '\0') + std::string("\x04\0", 2);
  EXPECT_THAT(read(core + std::string(40, '\0')).error().message, HasSubstr("nodescope core"));
}

TEST(ReadProfile, HasAMessageOfItsOwnForNothing) {
  EXPECT_EQ(read("", "empty.txt").error().message, "empty.txt: is empty");
  EXPECT_EQ(read(gzip(""), "empty.gz").error().message, "empty.gz: is empty");
}

}  // namespace
}  // namespace nodescope
