#include "base/line_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "formats/read_ahead.h"

namespace nodescope {
namespace {

using Lines = std::vector<std::string>;

// A pipe: no size, and as many bytes at a time as it likes.
class Pipe final : public ByteSource {
 public:
  Pipe(std::string_view text, std::size_t most) : memory_(text, "pipe"), most_(most) {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    return memory_.read(into.first(std::min(into.size(), most_)));
  }
  std::string_view name() const override { return "pipe"; }

 private:
  MemorySource memory_;
  std::size_t most_;
};

class Broken final : public ByteSource {
 public:
  Result<std::size_t> read(std::span<std::byte> into) override {
    if (given_) return fail(ErrorCode::kSystem, "the disk is on fire");
    given_ = true;
    into[0] = std::byte{'x'};
    return 1;
  }
  std::string_view name() const override { return "broken"; }

 private:
  bool given_ = false;
};

Lines split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Lines read_all(LineReader& reader) {
  Lines lines;
  for (;;) {
    const auto block = reader.next();
    EXPECT_TRUE(block.has_value());
    if (!block || !*block) return lines;
    EXPECT_NE((*block)->size(), 0u);
    for (std::size_t i = 0; i < (*block)->size(); ++i) lines.emplace_back((*block)->line(i));
  }
}

std::string random_text(unsigned seed, std::size_t size) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) {
    const std::size_t length = random() % 50 == 0 ? random() % 100'000 : random() % 100;
    text += std::string(length, static_cast<char>('a' + random() % 26)) + "\n";
  }
  if (seed % 2 == 0) text += "no newline at the end";
  return text;
}

TEST(LineReader, GivesEveryLineOnce) {
  for (const std::string_view text : {"", "\n", "a", "a\n", "a\n\nb", "\n\n", "a\r\nb\n"}) {
    MemorySource source(text, "memory");
    LineReader reader(source, nullptr);
    EXPECT_EQ(read_all(reader), split(text)) << text;
    EXPECT_TRUE(reader.at_end());
  }
  for (unsigned seed = 0; seed < 6; ++seed) {
    const std::string text = random_text(seed, 1'500'000);
    MemorySource source(text, "memory");
    LineReader reader(source, nullptr);
    EXPECT_TRUE(read_all(reader) == split(text)) << seed;
    Pipe pipe(text, 7'001);
    LineReader from_pipe(pipe, nullptr);
    EXPECT_TRUE(read_all(from_pipe) == split(text)) << seed;
    Pipe slow(text, 100);
    ReadAhead ahead(slow);
    LineReader from_ahead(ahead, nullptr);
    EXPECT_TRUE(read_all(from_ahead) == split(text)) << seed;
  }
}

TEST(LineReader, FindsLineEndsInTextOfAnyLength) {
  for (std::size_t size = 0; size < 200; ++size) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; i += 1 + size % 7) text[i] = '\n';
    std::vector<std::uint32_t> ends(size + 64);
    const std::size_t count = find_line_ends(text, ends.data());
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < size; ++i) {
      if (text[i] == '\n') expected.push_back(i);
    }
    ends.resize(count);
    EXPECT_EQ(ends, expected) << size;
  }
}

TEST(LineReader, KeepsWhatIsWantedAgain) {
  const std::string text = random_text(1, 2'000'000);
  MemorySource source(text, "memory");
  LineReader reader(source, nullptr);
  Lines lines;
  for (;;) {
    const auto block = reader.next();
    ASSERT_TRUE(block.has_value());
    if (!*block) break;
    const std::size_t done = reader.at_end() ? (*block)->size() : (*block)->size() / 2;
    for (std::size_t i = 0; i < done; ++i) lines.emplace_back((*block)->line(i));
    if (done < (*block)->size()) reader.keep_from((*block)->begin_of(done));
  }
  EXPECT_TRUE(lines == split(text));
}

TEST(LineReader, StartsAnywhereAndKnowsWhereItIs) {
  const std::string text = random_text(2, 1'000'000);
  MemorySource source(text, "memory");
  LineReader reader(source, nullptr, 300'000, 600'000);
  for (;;) {
    const auto block = reader.next();
    ASSERT_TRUE(block.has_value());
    if (!*block) break;
    for (std::size_t i = 0; i < (*block)->size(); ++i) {
      const std::string_view line = (*block)->line(i);
      ASSERT_EQ(text.substr((*block)->offset + (*block)->begin_of(i), line.size()), line);
    }
  }
  LineReader again(source, nullptr, 300'000, 600'000);
  EXPECT_TRUE(read_all(again) == split(std::string_view(text).substr(300'000)));
}

TEST(LineReader, LeavesOutLinesThatAreTooLong) {
  const std::string endless(LineReader::kMaxLineBytes + 1'000'000, 'x');
  const std::string text = "first\n" + endless + "\nsecond\n" + endless + endless + "\nthird\n" + endless;
  MemorySource source(text, "memory");
  LineReader reader(source, nullptr);
  std::uint64_t third = 0;
  Lines lines;
  for (;;) {
    const auto block = reader.next();
    ASSERT_TRUE(block.has_value());
    if (!*block) break;
    for (std::size_t i = 0; i < (*block)->size(); ++i) {
      lines.emplace_back((*block)->line(i));
      if (lines.back() == "third") third = (*block)->offset + (*block)->begin_of(i);
    }
  }
  EXPECT_EQ(lines, (Lines{"first", "second", "third"}));
  EXPECT_EQ(reader.lines_left_out(), 3u);
  EXPECT_EQ(third, text.find("third"));
}

TEST(LineReader, CountsProgressAndPassesErrorsOn) {
  Progress progress;
  const std::string text = random_text(3, 600'000);
  MemorySource source(text, "memory");
  LineReader reader(source, &progress);
  read_all(reader);
  EXPECT_EQ(progress.done_bytes, text.size());

  for (const bool read_ahead : {false, true}) {
    Broken broken;
    std::optional<ReadAhead> ahead;
    if (read_ahead) ahead.emplace(broken);
    LineReader fails(ahead ? static_cast<ByteSource&>(*ahead) : broken, nullptr);
    const auto block = fails.next();
    ASSERT_FALSE(block.has_value());
    EXPECT_EQ(block.error().message, "the disk is on fire");
  }
}

TEST(ReadAhead, MayBeGivenUpAtAnyTime) {
  const std::string text(10'000'000, 'x');
  for (const std::size_t wanted : {0u, 1u, 300'000u, 2'000'000u}) {
    Pipe pipe(text, 50'000);
    ReadAhead ahead(pipe);
    std::vector<std::byte> bytes(wanted);
    std::size_t got = 0;
    while (got < wanted) got += ahead.read(std::span(bytes).subspan(got)).value();
    EXPECT_EQ(ahead.name(), "pipe");
  }
}

}  // namespace
}  // namespace nodescope
