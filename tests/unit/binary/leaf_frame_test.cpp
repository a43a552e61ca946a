#include "binary/leaf_frame.h"

#include <gtest/gtest.h>

#include <string>

#include "base/byte_source.h"

namespace nodescope {
namespace {

using namespace std::string_literals;

LeafFrame at(const std::string& code, std::size_t pc, bool from_begin = true,
             bool top_is_return_address = false) {
  return find_leaf_frame({as_byte_span(code), pc, from_begin, top_is_return_address});
}

// mov rcx, [rdi]; push rbp; mov rbp, rsp; nop; pop rbp; ret
const std::string kFunction = "\x48\x8B\x0F\x55\x48\x89\xE5\x90\x5D\xC3";

TEST(LeafFrame, FollowsThePrologue) {
  EXPECT_EQ(at(kFunction, 0), LeafFrame::kOnlyReturn);
  EXPECT_EQ(at(kFunction, 3), LeafFrame::kOnlyReturn);
  EXPECT_EQ(at(kFunction, 4), LeafFrame::kRbpPushed);
  EXPECT_EQ(at(kFunction, 7), LeafFrame::kComplete);
  EXPECT_EQ(at(kFunction, 8), LeafFrame::kComplete);
  EXPECT_EQ(at(kFunction, 9), LeafFrame::kOnlyReturn);
  EXPECT_EQ(at("\x55\x48\x89\xE5\xC2\x08\x00"s, 4), LeafFrame::kOnlyReturn);
}

TEST(LeafFrame, WithoutTheBeginOnlyWhatIsNear) {
  EXPECT_EQ(at(kFunction, 0, false), LeafFrame::kComplete);
  EXPECT_EQ(at(kFunction, 3, false), LeafFrame::kOnlyReturn);
  EXPECT_EQ(at(kFunction, 4, false), LeafFrame::kRbpPushed);
  EXPECT_EQ(at("", 0, false), LeafFrame::kComplete);
  EXPECT_EQ(at("", 0, true), LeafFrame::kOnlyReturn);  // nothing has run yet
}

TEST(LeafFrame, WithoutAPrologueTheStackTells) {
  const std::string handler(200, '\x90');
  EXPECT_EQ(at(handler, 50, true, true), LeafFrame::kOnlyReturn);
  EXPECT_EQ(at(handler, 50, true, false), LeafFrame::kComplete);
  // One that comes late is that of a path.
  const std::string late = std::string(150, '\x90') + "\x55\x48\x89\xE5\x90\x90";
  EXPECT_EQ(at(late, 50, true, true), LeafFrame::kOnlyReturn);
  EXPECT_EQ(at(late, 155, true, false), LeafFrame::kComplete);
  // A frame as that path makes it has 24 bytes of room, where a return address may be left over.
  const std::string framed =
      std::string(150, '\x90') + "\x55\x48\x89\xE5\x6A\x22\x48\x83\xEC\x18" + std::string(9, '\x90');
  const auto in_frame = [&](std::uint64_t frame_bytes, std::uint64_t type) {
    return find_leaf_frame({as_byte_span(framed), 165, true, true, false, frame_bytes, type});
  };
  EXPECT_EQ(in_frame(32, 0x22), LeafFrame::kComplete);
  EXPECT_EQ(in_frame(40, 0x22), LeafFrame::kOnlyReturn);
  EXPECT_EQ(in_frame(32, 0x24), LeafFrame::kOnlyReturn);
  EXPECT_EQ(in_frame(0, 0x22), LeafFrame::kOnlyReturn);
  // With one at the begin the stack is not asked.
  EXPECT_EQ(at(kFunction, 7, true, true), LeafFrame::kComplete);
}

// BaselineOutOfLinePrologue of V8 10.2, shortened: mov r8, [rdi+39]; jne; pop r15; push rbp; mov rbp, rsp;
// push rsi; push r15; mov rax, [r13+192]; ret; add rsp, 8; test cl, 6; push rbp; mov rbp, rsp; push 38; ...
// pop rdi; mov rsp, rbp; pop rbp; jmp rcx
const std::string kSharedPrologue =
    "\x4C\x8B\x47\x27\x0F\x85\x13\x00\x00\x00\x41\x5F\x55\x48\x89\xE5\x56\x41\x57"
    "\x49\x8B\x85\xC0\x00\x00\x00\xC3\x48\x83\xC4\x08\xF6\xC1\x06\x55\x48\x89\xE5\x6A\x26\x5F\x48\x8B\xE5\x5D"
    "\xFF\xE1"s;

TEST(LeafFrame, OfABuiltinThatMakesTheFrameOfItsCaller) {
  const auto in = [](std::size_t pc, bool top, bool second) {
    return find_leaf_frame({as_byte_span(kSharedPrologue), pc, true, top, second});
  };
  for (const std::size_t pc : {0, 4, 10, 27}) EXPECT_EQ(in(pc, true, true), LeafFrame::kTwoReturns) << pc;
  EXPECT_EQ(in(12, true, false), LeafFrame::kOnlyReturn);
  EXPECT_EQ(in(13, false, false), LeafFrame::kRbpPushed);
  EXPECT_EQ(in(16, false, false), LeafFrame::kComplete);
  EXPECT_EQ(in(17, false, false), LeafFrame::kComplete);
  for (const std::size_t pc : {19, 26, 31, 34, 45})
    EXPECT_EQ(in(pc, true, false), LeafFrame::kOnlyReturn) << pc;
  EXPECT_EQ(in(35, false, false), LeafFrame::kRbpPushed);
  EXPECT_EQ(in(40, false, false), LeafFrame::kComplete);
  // Also when it is not in the bytes up to pc; but not when it is another function, behind the end of this
  // one.
  const std::string next = "\xC3" + std::string(15, '\xCC') + kSharedPrologue;
  EXPECT_EQ(find_leaf_frame({as_byte_span(next), 0, true, true, true}), LeafFrame::kOnlyReturn);
}

TEST(LeafFrame, FindsTheBeginOfABuiltin) {
  const std::string code = std::string(40, '\x90') + std::string(24, '\xCC') + std::string(64, '\x90');
  const auto bytes = as_byte_span(code);
  EXPECT_EQ(find_builtin_begin(bytes, 64, 0x1000), 64u);
  EXPECT_EQ(find_builtin_begin(bytes, 120, 0x1000), 64u);
  EXPECT_EQ(find_builtin_begin(bytes, 30, 0x1000), bytes.size());  // begins before these bytes
  EXPECT_EQ(find_builtin_begin(bytes, 120, 0x1010), 48u);          // an int3, too: aligned there
  EXPECT_EQ(find_builtin_begin({}, 10, 0x1000), 0u);
}

TEST(LeafFrame, KnowsCallInstructions) {
  const auto call = [](const std::string& bytes) { return ends_with_call(as_byte_span(bytes)); };
  EXPECT_TRUE(call("\xE8\x01\x02\x03\x04"));           // call rel32
  EXPECT_TRUE(call("\xFF\xD0"));                       // call rax
  EXPECT_TRUE(call("\x41\xFF\xD2"));                   // call r10
  EXPECT_TRUE(call("\xFF\x50\x10"));                   // call [rax+16]
  EXPECT_TRUE(call("\x41\xFF\x54\x24\x10"));           // call [r12+16]
  EXPECT_TRUE(call("\xFF\x14\xC8"));                   // call [rax+rcx*8]
  EXPECT_TRUE(call("\x41\xFF\x95\x00\x01\x00\x00"s));  // call [r13+256]
  EXPECT_TRUE(call("\xFF\x94\x24\x00\x01\x00\x00"s));  // call [rsp+256]
  EXPECT_TRUE(call("\xFF\x15\x00\x01\x00\x00"s));      // call [rip+256]
  EXPECT_FALSE(call("\xFF\xE0"));                      // jmp rax
  EXPECT_FALSE(call("\x90\x90\x90\x90\x90\x90\x90"));
  EXPECT_FALSE(call("\xFF\x50"));
  EXPECT_FALSE(call(""));
}

TEST(LeafFrame, KnowsWhereCallsAndJumpsLead) {
  const auto target = [](const std::string& bytes) {
    return direct_call_target(as_byte_span(bytes), 0x1000);
  };
  EXPECT_EQ(target("\x90\xE8\x10\x00\x00\x00"s), 0x1010u);
  EXPECT_EQ(target("\xE8\xF0\xFF\xFF\xFF"s), 0xFF0u);
  EXPECT_EQ(target("\xE9\x10\x00\x00\x00"s), 0u);
  EXPECT_EQ(target("\xE8\x10\x00"s), 0u);
  const auto jumps = [](const std::string& bytes, std::uint64_t to) {
    return has_jump_to(as_byte_span(bytes), 0x1000, to);
  };
  EXPECT_TRUE(jumps("\xE9\x0B\x00\x00\x00"s, 0x1010));              // jmp
  EXPECT_TRUE(jumps("\x90\x90\x0F\x84\xF8\xFF\xFF\xFF"s, 0x1000));  // je, backwards
  EXPECT_FALSE(jumps("\xE9\x0C\x00\x00\x00"s, 0x1010));
  EXPECT_FALSE(jumps("\x0F\x94\x0B\x00\x00\x00"s, 0x1011));  // sete
  EXPECT_FALSE(jumps("\xE9\x0B\x00"s, 0x1010));
  EXPECT_FALSE(jumps("", 0x1000));
  const auto stub = [](const std::string& bytes) { return begins_with_indirect_jump(as_byte_span(bytes)); };
  EXPECT_TRUE(stub("\xFF\x25\x01\x02\x03\x04"));
  EXPECT_TRUE(stub("\xF3\x0F\x1E\xFA\xF2\xFF\x25\x01\x02\x03\x04"));
  EXPECT_FALSE(stub("\xFF\x15\x01\x02\x03\x04"));
  EXPECT_FALSE(stub("\xF3\x0F\x1E\xFA"));
}

}  // namespace
}  // namespace nodescope
