#include "v8/frame_reader.h"

#include <gtest/gtest.h>

#include "support/fake_v8.h"

namespace nodescope::v8 {
namespace {

using testing::FakeHeap;
using testing::FakeProcess;
using testing::make_fake_process;

class FrameReaderTest : public ::testing::Test {
 protected:
  std::vector<Frame> read(std::size_t index) { return reader.read(process.frames[index]); }
  LineColumn place(const Frame& frame) {
    return frame.script ? scripts.place(*frame.script, frame.offset).value_or(LineColumn{}) : LineColumn{};
  }

  FakeProcess process = make_fake_process();
  Heap heap{process.heap.memory, process.layout};
  CodeFinder codes{heap};
  Scripts scripts;
  FrameReader reader{heap, process.space, codes, scripts};
};

TEST_F(FrameReaderTest, InterpretedFrame) {
  const auto frames = read(0);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "outer");
  EXPECT_EQ(frames[0].tier, Tier::kInterpreter);
  ASSERT_TRUE(frames[0].script);
  EXPECT_EQ(scripts.name(*frames[0].script), "/app/a.js");
  EXPECT_EQ(place(frames[0]), (LineColumn{2, 3}));
  EXPECT_TRUE(frames[0].sure);
}

TEST_F(FrameReaderTest, BaselineFrameFindsItsBytecode) {
  const auto frames = read(1);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "outer");
  EXPECT_EQ(frames[0].tier, Tier::kBaseline);
  EXPECT_EQ(place(frames[0]), (LineColumn{2, 3}));
}

TEST_F(FrameReaderTest, InlinedFunctionComesBeforeItsCaller) {
  const auto frames = read(2);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "inlined");
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_EQ(frames[0].tier, Tier::kTurbofan);
  EXPECT_EQ(place(frames[0]), (LineColumn{3, 3}));
  EXPECT_EQ(frames[1].function, "outer");
  EXPECT_FALSE(frames[1].inlined);
  EXPECT_EQ(place(frames[1]), (LineColumn{2, 3}));
}

TEST_F(FrameReaderTest, BuiltinThatCallsOutIsNamedByItsFunction) {
  const auto frames = read(3);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].kind, FrameKind::kBuiltin);
  EXPECT_EQ(frames[0].function, "stringify");
}

TEST_F(FrameReaderTest, BytecodeOfAnotherFunctionGivesNoName) {
  const auto other = process.heap.bytecode_array("\x10\x11", {});
  process.heap.memory.put(process.frames[0].frame_pointer - 32, other.value);
  const auto frames = read(0);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_NE(frames[0].kind, FrameKind::kJs);
  EXPECT_NE(frames[0].function, "outer");
}

TEST_F(FrameReaderTest, OffsetBeyondTheBytecodeIsNotAnInterpretedFrame) {
  process.heap.memory.put(process.frames[0].frame_pointer - 40, FakeHeap::smi(5000));
  EXPECT_NE(read(0)[0].kind, FrameKind::kJs);
}

TEST_F(FrameReaderTest, SlotsBelowTheStackPointerAreNotRead) {
  RegisterSet registers;
  registers.set(Register::kRsp, process.frames[0].frame_pointer.value - 8);
  PhysicalFrame frame = process.frames[0];
  frame.registers = &registers;
  EXPECT_NE(reader.read(frame)[0].kind, FrameKind::kJs);
}

// Baseline code calls a builtin that fills the slots of its frame; until then rdi has the function.
TEST_F(FrameReaderTest, AFunctionThatIsBeingEnteredIsInARegister) {
  PhysicalFrame frame = process.frames[1];
  const auto closure = heap.memory().load<std::uint64_t>(frame.frame_pointer - 16);
  ASSERT_TRUE(closure);
  RegisterSet registers;
  registers.set(Register::kRsp, frame.frame_pointer.value - 8);  // the return address of that call
  frame.registers = &registers;
  EXPECT_EQ(reader.read(frame)[0].kind, FrameKind::kUnknownJs);
  registers.set(Register::kRdi, *closure + 8);
  EXPECT_EQ(reader.read(frame)[0].kind, FrameKind::kUnknownJs);
  registers.set(Register::kRdi, *closure);
  EXPECT_EQ(reader.read(frame)[0].function, "outer");
}

TEST_F(FrameReaderTest, ANewerV8GivesNamesButNoLines) {
  process.layout.version = {99, 0, 0};
  const auto frames = read(0);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "outer");
  EXPECT_EQ(frames[0].offset, -1);
  EXPECT_FALSE(frames[0].sure);
}

// Wherever a word of memory is wrong, the reader ends and names nothing that does not exist.
TEST_F(FrameReaderTest, AnyWrongWordIsSurvived) {
  const auto original = process.heap.memory.bytes;
  const std::uint64_t wrong[] = {0, 1, ~std::uint64_t{0}, testing::FakeMemory::kBegin + 1, FakeHeap::smi(-1)};
  for (std::size_t at = 0; at + 8 <= original.size(); at += 8) {
    for (const std::uint64_t value : wrong) {
      std::memcpy(process.heap.memory.bytes.data() + at, &value, sizeof value);
      heap.forget();
      scripts.begin_generation();
      reader.begin_generation();
      for (const PhysicalFrame& frame : process.frames) EXPECT_FALSE(reader.read(frame).empty());
    }
    std::memcpy(process.heap.memory.bytes.data() + at, original.data() + at, 8);
  }
}

}  // namespace
}  // namespace nodescope::v8
