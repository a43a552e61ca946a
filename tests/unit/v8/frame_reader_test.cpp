#include "v8/frame_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/byte_source.h"
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

  void next_generation() {
    heap.forget();
    scripts.begin_generation();
    reader.begin_generation();
  }
  // Of the script that all functions are in: where its text is told.
  Address source_field() {
    const auto closure = heap.word(process.frames[0].frame_pointer - 16);
    return heap.field(*heap.field(*closure, 24), 32)->address() + 8;
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

TEST_F(FrameReaderTest, ACallIsToldByHowItsCodeIsLeft) {
  const auto frames = read(FakeProcess::kTranslated);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "inlined");
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_TRUE(frames[0].sure);
  EXPECT_EQ(place(frames[0]), (LineColumn{2, 3}));
  EXPECT_EQ(frames[1].function, "outer");
  EXPECT_FALSE(frames[1].inlined);
  EXPECT_TRUE(frames[1].sure);
  EXPECT_EQ(place(frames[1]), (LineColumn{1, 3}));
}

// Source positions are what is left: they may be those of machine code nearby.
TEST_F(FrameReaderTest, APlaceInOptimizedCodeThatIsNoSuchCallIsNotSure) {
  for (const Frame& frame : read(2)) EXPECT_FALSE(frame.sure);
  PhysicalFrame leaf = process.frames[FakeProcess::kTranslated];
  leaf.is_leaf = true;
  for (const Frame& frame : reader.read(leaf)) EXPECT_FALSE(frame.sure);
}

TEST_F(FrameReaderTest, FunctionOfWebAssemblyHasItsNameAndTheByteInItsModule) {
  const auto frames = read(FakeProcess::kWasm);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].kind, FrameKind::kWasm);
  EXPECT_EQ(frames[0].function, "outer");
  ASSERT_TRUE(frames[0].script);
  EXPECT_EQ(scripts.name(*frames[0].script), "wasm://wasm/fake-1234");
  EXPECT_EQ(place(frames[0]), (LineColumn{1, 0x27 + 5 + 1}));
  EXPECT_EQ(frames[0].function_offset, 0x27);
  EXPECT_TRUE(frames[0].sure);
}

TEST_F(FrameReaderTest, FunctionOfWebAssemblyThatWasInlined) {
  const auto frames = read(FakeProcess::kWasmInlined);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "inner");
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_EQ(place(frames[0]), (LineColumn{1, 0x20 + 3 + 1}));
  EXPECT_EQ(frames[1].function, "outer");
  EXPECT_FALSE(frames[1].inlined);
  EXPECT_EQ(place(frames[1]), (LineColumn{1, 0x27 + 7 + 1}));
}

// Of a frame that is not set up yet only the place is known.
TEST_F(FrameReaderTest, FunctionOfWebAssemblyIsKnownByItsPlaceOnceItsModuleIs) {
  PhysicalFrame entered = process.frames[FakeProcess::kWasm];
  entered.frameless = true;
  EXPECT_EQ(reader.read(entered)[0].kind, FrameKind::kUnknownJs);
  read(FakeProcess::kWasm);
  EXPECT_EQ(reader.read(entered)[0].function, "outer");
  next_generation();
  EXPECT_EQ(reader.read(entered)[0].function, "outer");
}

TEST_F(FrameReaderTest, CodeOfWebAssemblyThatIsAnotherNowIsNotTakenForTheOld) {
  read(FakeProcess::kWasm);
  auto& bytes = process.heap.memory.bytes;
  const std::string module = testing::fake_wasm_module();
  const auto text = as_byte_span(module);
  const auto at = std::ranges::search(bytes, text);
  ASSERT_FALSE(at.empty());
  next_generation();
  at[text.size() - 1] = std::byte{'x'};
  EXPECT_EQ(read(FakeProcess::kWasm)[0].function, "outex");
  next_generation();
  std::ranges::fill(at, std::byte{0});
  EXPECT_EQ(read(FakeProcess::kWasm)[0].function, "");
}

TEST_F(FrameReaderTest, BuiltinThatCallsOutIsNamedByItsFunction) {
  const auto frames = read(3);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].kind, FrameKind::kBuiltin);
  EXPECT_EQ(frames[0].function, "stringify");
}

// Its last samples are read when there is nothing left of it but the copies of its stacks.
TEST_F(FrameReaderTest, AProcessThatHasEndedIsWhatItWas) {
  std::vector<std::string> before;
  for (std::size_t i = 0; i < process.frames.size(); ++i) before.push_back(read(i)[0].function);
  next_generation();
  auto& memory = process.heap.memory;
  memory.gone = true;
  for (const PhysicalFrame& frame : process.frames)
    memory.still_there.push_back({frame.frame_pointer - 48, frame.frame_pointer + 48});
  for (std::size_t i = 0; i < process.frames.size(); ++i) EXPECT_EQ(read(i)[0].function, before[i]) << i;
  EXPECT_EQ(place(read(0)[0]), (LineColumn{2, 3}));
}

class EvalTest : public FrameReaderTest {
 protected:
  TaggedWord eval_script(TaggedWord from, std::int32_t position) {
    const auto script = process.heap.script("", "1 + 1");
    process.heap.memory.put(script.address() + 72, from.value);
    process.heap.memory.put(script.address() + 80, FakeHeap::smi(position));
    return script;
  }
  std::string origin(TaggedWord script) {
    const auto id = scripts.load(heap, script);
    return id ? scripts.origin(*id) : "not a script";
  }

  TaggedWord outer = *heap.field(*heap.word(process.frames[0].frame_pointer - 16), 24);
};

TEST_F(EvalTest, CodeIsToldByWhereItWasMade) {
  EXPECT_EQ(origin(eval_script(outer, 11)), "eval at outer (/app/a.js:2:3)");
  // A place in the bytecode: V8 looks its position up when it is needed.
  EXPECT_EQ(origin(eval_script(outer, -4)), "eval at outer (/app/a.js:2:3)");
  EXPECT_EQ(origin(eval_script(outer, 5000)), "eval at outer (/app/a.js)");
}

TEST_F(EvalTest, WithinCodeThatWasMadeToo) {
  const auto nested = process.heap.shared("", eval_script(outer, 11), {});
  EXPECT_EQ(origin(eval_script(nested, 0)), "eval at <anonymous> (eval at outer (/app/a.js:2:3))");
}

TEST_F(EvalTest, CodeThatSaysToHaveMadeItselfIsSurvived) {
  const auto script = eval_script(outer, 11);
  const auto itself = process.heap.shared("loop", script, {});
  process.heap.memory.put(script.address() + 72, itself.value);
  EXPECT_TRUE(origin(script).starts_with("eval at loop"));
}

TEST_F(FrameReaderTest, BytecodeOfAnotherFunctionGivesNoName) {
  const auto other = process.heap.bytecode_array("\x10\x11", {});
  process.heap.memory.put(process.frames[0].frame_pointer - 32, other.value);
  const auto frames = read(0);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_NE(frames[0].kind, FrameKind::kJs);
  EXPECT_NE(frames[0].function, "outer");
}

TEST_F(FrameReaderTest, AnInterpretedFrameWithoutBytecodeIsAFunctionThatIsNotTold) {
  process.heap.memory.put(process.frames[0].frame_pointer - 32, std::uint64_t{1});
  EXPECT_EQ(read(0)[0].kind, FrameKind::kBuiltin);  // anything else that calls something
  const CodeSpace::Area builtins{{process.frames[0].pc - 0x100, process.frames[0].pc + 0x100},
                                 CodeSpace::Kind::kBuiltin};
  const CodeSpace interpreter({builtins},
                              [](Address) { return std::string("Builtins_InterpreterEntryTrampoline"); });
  FrameReader other{heap, interpreter, codes, scripts};
  const auto frames = other.read(process.frames[0]);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].kind, FrameKind::kUnknownJs);
  EXPECT_EQ(frames[0].tier, Tier::kInterpreter);
}

TEST_F(FrameReaderTest, AFunctionMayBeInterruptedBeforeItsFirstBytecode) {
  process.heap.memory.put(process.frames[0].frame_pointer - 40, FakeHeap::smi(54 - 1 - 1));
  EXPECT_EQ(read(0)[0].function, "outer");
  process.heap.memory.put(process.frames[0].frame_pointer - 40, FakeHeap::smi(54 - 1 - 2));
  EXPECT_NE(read(0)[0].kind, FrameKind::kJs);
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

// Before V8 9.6 only the function knows the bytecode that its baseline code was made from.
TEST_F(FrameReaderTest, AFunctionThatIsBeingEnteredOwnsItsBaselineCode) {
  constexpr int kBaselineData = 160;
  process.layout.type_baseline_data = {kBaselineData, Origin::kVersionTable};
  PhysicalFrame frame = process.frames[1];
  const auto word = [&](Address address) { return heap.memory().load<std::uint64_t>(address).value_or(0); };
  const std::uint64_t closure = word(frame.frame_pointer - 16);
  const std::uint64_t bytecode = word(frame.frame_pointer - 32);
  const CodeFinder::Found* found = codes.find(frame.pc, process.space.area(frame.pc));
  ASSERT_NE(found, nullptr);
  const std::uint64_t code = found->code.header().value + 1;
  const TaggedWord shared{word(TaggedWord{closure}.address() + 24)};
  RegisterSet registers;
  registers.set(Register::kRdi, closure);
  frame.registers = &registers;
  frame.frameless = true;
  const auto kind_with_code = [&](std::uint64_t owned) {
    const auto data = process.heap.object(kBaselineData, {owned, bytecode});
    process.heap.memory.put(shared.address() + 8, data.value);
    next_generation();
    return reader.read(frame)[0].kind;
  };
  EXPECT_EQ(kind_with_code(code + 64), FrameKind::kUnknownJs);
  EXPECT_EQ(kind_with_code(code), FrameKind::kJs);
  EXPECT_EQ(reader.read(frame)[0].function, "outer");
  registers.set(Register::kRdi, 0);
  EXPECT_EQ(reader.read(frame)[0].kind, FrameKind::kUnknownJs);
}

TEST_F(FrameReaderTest, AJumpToABuiltinIsABuiltin) {
  constexpr std::uint32_t kBuiltinCode = 2;
  const PhysicalFrame& frame = process.frames[2];
  const CodeFinder::Found* found = codes.find(frame.pc, process.space.area(frame.pc));
  ASSERT_NE(found, nullptr);
  const auto owner = heap.word(found->code.header() + 8);
  ASSERT_TRUE(owner);
  process.heap.memory.put(owner->address() + 48, kBuiltinCode);
  reader.begin_generation();
  EXPECT_EQ(reader.read(frame)[0].kind, FrameKind::kBuiltin);
}

TEST_F(FrameReaderTest, WhatLeadsIntoWebAssemblyIsNoUnknownFunction) {
  constexpr std::uint32_t kJsToWasm = 7;
  const PhysicalFrame& frame = process.frames[2];
  const CodeFinder::Found* found = codes.find(frame.pc, process.space.area(frame.pc));
  ASSERT_NE(found, nullptr);
  const auto owner = heap.word(found->code.header() + 8);
  ASSERT_TRUE(owner);
  process.heap.memory.put(owner->address() + 48, kJsToWasm);
  next_generation();
  const auto frames = reader.read(frame);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].kind, FrameKind::kBuiltin);
  EXPECT_EQ(frames[0].function, "js-to-wasm");
}

// WebAssembly's machine code is where frames say so; a function that is being entered has none yet.
TEST_F(FrameReaderTest, AnAreaOfWebAssemblyIsKnownByItsFrames) {
  constexpr std::uint64_t kWasmMarker = 20;
  process.layout.markers[kWasmMarker] = Marker::kWasm;
  PhysicalFrame frame = process.frames[2];
  frame.pc = process.space.area(frame.pc).end - 4;  // in no object of code
  process.heap.memory.put(frame.frame_pointer - 8, kWasmMarker << 1);
  PhysicalFrame entered = frame;
  entered.frameless = true;
  EXPECT_EQ(reader.read(entered)[0].kind, FrameKind::kUnknownJs);
  EXPECT_EQ(reader.read(frame)[0].kind, FrameKind::kWasm);
  EXPECT_EQ(reader.read(entered)[0].kind, FrameKind::kWasm);
  frame.pc = process.frames[0].pc;  // a builtin that leads there
  EXPECT_EQ(reader.read(frame)[0].kind, FrameKind::kBuiltin);
}

// V8 takes what code knows about its functions away when it gives the code up; stacks may still go through
// it.
TEST_F(FrameReaderTest, CodeThatIsGivenUpIsStillKnownWhereItWasSeen) {
  const PhysicalFrame& frame = process.frames[2];
  const auto owner = heap.word(codes.find(frame.pc, process.space.area(frame.pc))->code.header() + 8);
  ASSERT_EQ(read(2).size(), 2u);
  process.heap.memory.put(frame.frame_pointer - 16, std::uint64_t{1});
  const auto with_deopt = [&](TaggedWord deopt) {
    process.heap.memory.put(owner->address() + 16, deopt.value);
    next_generation();
    return read(2);
  };
  auto frames = with_deopt(process.heap.array({}));
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "inlined");
  EXPECT_EQ(frames[1].function, "outer");
  frames = with_deopt(process.heap.array({0}));  // other code that has taken its place
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].kind, FrameKind::kUnknownJs);
}

TEST_F(FrameReaderTest, CodeThatWasNotFoundIsSearchedAgain) {
  const PhysicalFrame& frame = process.frames[2];
  const Address header = codes.find(frame.pc, process.space.area(frame.pc))->code.header();
  const auto map = heap.word(header);
  const auto owner = heap.word(header + 8);
  const auto is_found_with = [&](TaggedWord first, TaggedWord second) {
    process.heap.memory.put(header, first.value);
    process.heap.memory.put(header + 8, second.value);
    next_generation();
    return codes.find(frame.pc, process.space.area(frame.pc)) != nullptr;
  };
  EXPECT_FALSE(is_found_with({}, {}));
  EXPECT_TRUE(is_found_with(*map, *owner));
  EXPECT_FALSE(is_found_with({}, {}));
  EXPECT_FALSE(is_found_with({}, {}));
  for (int i = 1; i < 4; ++i) EXPECT_FALSE(is_found_with(*map, *owner)) << i;  // it takes long to search
  EXPECT_TRUE(is_found_with(*map, *owner));
}

// The text of a new script is young: a collector may just have moved it.
TEST_F(FrameReaderTest, AScriptThatCouldNotBeReadIsReadAgain) {
  const auto source = heap.word(source_field());
  process.heap.memory.put(source_field(), std::uint64_t{0x7001});
  auto interpreted = read(0);
  EXPECT_EQ(interpreted[0].function, "outer");
  EXPECT_FALSE(interpreted[0].script);
  auto optimized = read(2);
  ASSERT_EQ(optimized.size(), 2u);
  EXPECT_FALSE(optimized[1].script);
  process.heap.memory.put(source_field(), source->value);
  next_generation();
  interpreted = read(0);
  ASSERT_TRUE(interpreted[0].script);
  EXPECT_EQ(scripts.name(*interpreted[0].script), "/app/a.js");
  EXPECT_EQ(place(interpreted[0]), (LineColumn{2, 3}));
  optimized = read(2);
  ASSERT_EQ(optimized.size(), 2u);
  EXPECT_EQ(optimized[1].function, "outer");
  EXPECT_EQ(place(optimized[0]), (LineColumn{3, 3}));
  EXPECT_EQ(place(optimized[1]), (LineColumn{2, 3}));
}

// Regular expressions: the machine code does not know its pattern, the stack does.
class RegExpFrameTest : public FrameReaderTest {
 protected:
  static constexpr int kJsRegExp = 1100, kData = 180, kRegExpCode = 3;

  RegExpFrameTest() {
    process.layout.type_js_regexp = {kJsRegExp, Origin::kVersionTable};
    process.layout.type_regexp_data = {kData, Origin::kVersionTable};
    process.layout.js_regexp_data = {24, Origin::kVersionTable};
    process.layout.regexp_source = {24, Origin::kVersionTable};
    const PhysicalFrame& frame = process.frames[2];
    const auto owner = heap.word(codes.find(frame.pc, process.space.area(frame.pc))->code.header() + 8);
    code = owner->value;
    process.heap.memory.put(owner->address() + 48, std::uint32_t{kRegExpCode});
    stack = process.heap.memory.allocate(0);
    process.heap.memory.allocate(4096);
    next_generation();
  }

  std::uint64_t regexp(std::string_view pattern, std::uint64_t its_code) {
    const auto data = process.heap.object(
        kData, {FakeHeap::smi(5), FakeHeap::smi(2), process.heap.string(pattern).value, its_code});
    return process.heap.object(kJsRegExp, {0, 0, data.value}).value;
  }
  std::string pattern_with(std::initializer_list<std::uint64_t> words) {
    std::uint64_t at = 0;
    for (const std::uint64_t word : words) process.heap.memory.put(stack + 8 * at++, word);
    PhysicalFrame frame = process.frames[2];
    frame.frame_pointer = stack;
    next_generation();
    return reader.read(frame)[0].function;
  }

  std::uint64_t code = 0;
  Address stack;
};

TEST_F(RegExpFrameTest, AreNamedByTheirCaller) {
  EXPECT_EQ(pattern_with({0, regexp("a+", code)}), "a+");
}

TEST_F(RegExpFrameTest, OnlyTheNearestCounts) {
  const std::uint64_t other = code + 64;
  EXPECT_EQ(pattern_with({regexp("b+", other), regexp("a+", code)}), "");
  const auto array = process.heap.object(kData, {FakeHeap::smi(2), regexp("b+", other), 0}).value;
  EXPECT_EQ(pattern_with({array, regexp("a+", code)}), "a+");  // an array is none
}

TEST_F(RegExpFrameTest, OneThatWasMovedIsKnownByItsCode) {
  EXPECT_EQ(pattern_with({regexp("a+", code), 0}), "a+");
  EXPECT_EQ(pattern_with({0, 0}), "a+");
  // Other code of the same size in the same place.
  process.heap.memory.put(process.frames[2].pc, std::uint64_t{0x1234});
  EXPECT_EQ(pattern_with({0, 0}), "");
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
