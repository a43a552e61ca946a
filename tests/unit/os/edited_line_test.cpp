#include "os/edited_line.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace nodescope {
namespace {

LineEvent type(EditedLine& line, std::string_view keys) {
  LineEvent last = LineEvent::kEdited;
  for (const char key : keys) last = line.feed(key);
  return last;
}

TEST(EditedLine, TakesTextUpToEnter) {
  EditedLine line({});
  EXPECT_EQ(type(line, "objects Leaky\r"), LineEvent::kDone);
  EXPECT_EQ(line.text(), "objects Leaky");
}

TEST(EditedLine, MovesByCharactersAndErasesThem) {
  EditedLine line({});
  type(line, "kůň\033[D\033[D\177");
  EXPECT_EQ(line.text(), "ůň");
  type(line, "k\033[3~");
  EXPECT_EQ(line.text(), "kň");
  type(line, "\001x\005y");
  EXPECT_EQ(line.text(), "xkňy");
}

TEST(EditedLine, ErasesWordsAndEnds) {
  EditedLine line({});
  type(line, "print 0x12 \027");
  EXPECT_EQ(line.text(), "print ");
  type(line, "abc\033[D\013");
  EXPECT_EQ(line.text(), "print ab");
  type(line, "\025");
  EXPECT_EQ(line.text(), "");
}

TEST(EditedLine, WalksThroughTheLinesBefore) {
  const std::vector<std::string> history = {"info", "bt"};
  EditedLine line(history);
  type(line, "half\033[A");
  EXPECT_EQ(line.text(), "bt");
  type(line, "\033OA\033OA");
  EXPECT_EQ(line.text(), "info");
  type(line, "\033[B\033[B\033[B");
  EXPECT_EQ(line.text(), "half");
}

TEST(EditedLine, EndsAndCancels) {
  EditedLine line({});
  EXPECT_EQ(type(line, "\004"), LineEvent::kEnd);
  EXPECT_EQ(type(line, "a\003"), LineEvent::kCancelled);
  EXPECT_EQ(type(line, "\t"), LineEvent::kComplete);
}

TEST(EditedLine, AnyBytesAreSafe) {
  std::mt19937 random(4);
  const std::vector<std::string> history = {"one", "žluť"};
  for (int round = 0; round < 200; ++round) {
    EditedLine line(history);
    for (int i = 0; i < 300; ++i) {
      line.feed(static_cast<char>(random() % 4 == 0 ? '\033' : random() % 256));
      ASSERT_LE(line.cursor(), line.text().size());
    }
  }
}

TEST(EditedLine, IsBounded) {
  EditedLine line({});
  for (std::size_t i = 0; i < EditedLine::kMaxBytes + 10; ++i) line.feed('x');
  EXPECT_EQ(line.text().size(), EditedLine::kMaxBytes);
}

}  // namespace
}  // namespace nodescope
