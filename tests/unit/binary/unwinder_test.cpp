#include "binary/unwinder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <pthread.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <memory>

#include "eh_frame_builder.h"
#include "own_binary.h"
#include "support/sanitizers.h"

namespace nodescope {
namespace {

using testing::bytes_of;
using testing::EhFrameBuilder;
using ::testing::ElementsAre;

// ---- a stack made by hand

// Code by ranges of addresses.
class FakeCode final : public CodeMap {
 public:
  std::vector<CodeRegion> regions;
  std::map<std::uint64_t, std::string> bytes;  // by their first address
  std::optional<Address> begin;
  std::map<std::uint64_t, std::uint64_t> words;

  CodeRegion find(Address pc) override {
    const auto found =
        std::ranges::find_if(regions, [&](const CodeRegion& region) { return region.range.contains(pc); });
    return found != regions.end() ? *found : CodeRegion{CodeKind::kUnknown, {pc, pc + 1}, nullptr, 0};
  }
  std::span<const std::byte> code(Range<Address> range) override {
    auto found = bytes.upper_bound(range.begin.value);
    if (found == bytes.begin()) return {};
    --found;
    const std::uint64_t offset = range.begin.value - found->first;
    if (offset >= found->second.size()) return {};
    const auto rest = as_byte_span(found->second).subspan(offset);
    return rest.first(std::min<std::size_t>(rest.size(), range.size_bytes()));
  }
  std::optional<Address> function_begin(Address) override { return begin; }
  std::optional<std::uint64_t> word_now(Address address) override {
    const auto found = words.find(address.value);
    return found != words.end() ? std::optional(found->second) : std::nullopt;
  }
};

Range<Address> range_of(std::uint64_t begin, std::uint64_t end) {
  return {Address{begin}, Address{end}};
}

constexpr std::uint64_t kStack = 0x7000;
constexpr std::uint64_t kJit = 0x100000;      // generated code, up to 0x110000
constexpr std::uint64_t kNative = 0x400000;   // mapped with a bias of 0x400000 - 0x1000
constexpr std::uint64_t kNoRules = 0x500000;  // native code without .eh_frame

class UnwinderTest : public ::testing::Test {
 protected:
  UnwinderTest() {
    EhFrameBuilder frames;
    const auto common = frames.add_usual_common();
    // At 0x1000: 0x20 bytes of locals.  At 0x1100: a frame pointer.  At 0x1200: the outermost function.
    frames.add_function(common, 0x1000, 0x100, "\x0E\x28");
    frames.add_function(common, 0x1100, 0x100, "\x0C\x06\x10\x86\x02");
    frames.add_function(common, 0x1200, 0x100, "\x07\x10");
    // At 0x1300: in an epilogue, rbp popped already.  At 0x1400: a register that nobody knows.
    frames.add_function(common, 0x1300, 0x100, "\x86\x02");
    frames.add_function(common, 0x1400, 0x100, "\x0C\x03\x10");
    // At 0x1500: CFA = what lies at rsp - 8, plus 8.
    frames.add_function(common, 0x1500, 0x100, "\x0F\x05\x77\x78\x06\x23\x08");
    elf_ = frames.elf(true);
    file_ = ElfFile::parse(as_byte_span(elf_)).value();
    table_ = UnwindTable::build(*file_);
    code_.regions = {{CodeKind::kFramed, range_of(kJit, kJit + 0x10000), nullptr, 0},
                     {CodeKind::kNative, range_of(kNative, kNative + 0x1000), &table_, kNative - 0x1000},
                     {CodeKind::kNative, range_of(kNoRules, kNoRules + 0x1000), nullptr, 0}};
  }

  // `words` lie from kStack on, where rsp points to.
  UnwoundStack unwind(std::uint64_t pc, std::uint64_t rbp, const std::vector<std::uint64_t>& words) {
    stack_.clear();
    for (const std::uint64_t word : words) stack_ += bytes_of(word);
    RegisterSet registers;
    registers.set(Register::kRip, pc);
    registers.set(Register::kRsp, kStack);
    registers.set(Register::kRbp, rbp);
    return unwinder_.unwind(registers, {Address{kStack}, as_byte_span(stack_)}, code_);
  }

  static std::vector<std::uint64_t> pcs(const UnwoundStack& stack) {
    std::vector<std::uint64_t> values;
    for (const Address pc : stack.pcs) values.push_back(pc.value);
    return values;
  }

  FakeCode code_;
  Unwinder unwinder_;

 private:
  std::string elf_;
  std::optional<ElfFile> file_;
  UnwindTable table_;
  std::string stack_;
};

TEST_F(UnwinderTest, NativeFrames) {
  const auto stack = unwind(kNative + 0x10, 0, {1, 2, 3, 4, kNative + 0x50, 1, 2, 3, 4, kNative + 0x210});
  EXPECT_THAT(pcs(stack), ElementsAre(kNative + 0x10, kNative + 0x50, kNative + 0x210));
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
  EXPECT_EQ(stack.guessed_frames, 0u);
}

TEST_F(UnwinderTest, AReturnAddressBehindTheEndOfItsFunctionBelongsToThatFunction) {
  // A call that never returns is the last instruction of 0x1000: the return address is the begin of 0x1100.
  const auto stack = unwind(kNative + 0x10, 0, {1, 2, 3, 4, kNative + 0x100, 1, 2, 3, 4, kNative + 0x210});
  EXPECT_THAT(pcs(stack), ElementsAre(kNative + 0x10, kNative + 0x100, kNative + 0x210));
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
}

TEST_F(UnwinderTest, FromNativeThroughGeneratedToNativeCode) {
  const auto frame = [](std::size_t word) { return kStack + word * 8; };
  // 0: frame of native code with rbp at 1; 3: frames of generated code at 4 and 7; then native code again.
  const auto stack =
      unwind(kNative + 0x110, frame(1),
             {0, frame(4), kJit + 0x50, 0, frame(7), kJit + 0x90, 0, 0x1234, kNative + 0x20,  //
              1, 2, 3, 4, kNative + 0x210});
  EXPECT_THAT(pcs(stack),
              ElementsAre(kNative + 0x110, kJit + 0x50, kJit + 0x90, kNative + 0x20, kNative + 0x210));
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
}

TEST_F(UnwinderTest, GeneratedLeafBeforeInAndAfterItsPrologue) {
  const auto frame = [](std::size_t word) { return kStack + word * 8; };
  code_.bytes[kJit] = "\x48\x8B\x0F\x55\x48\x89\xE5\x90\x90\x5D\xC3";
  code_.begin = Address{kJit};
  const auto leaf = [&](std::uint64_t offset, std::uint64_t rbp, const std::vector<std::uint64_t>& words) {
    return pcs(unwind(kJit + offset, rbp, words));
  };
  const std::uint64_t caller = kJit + 0x1000;
  const std::uint64_t outer = kNative + 0x210;
  EXPECT_THAT(leaf(0, frame(2), {caller, 0, 0, outer}), ElementsAre(kJit, caller, outer));
  EXPECT_THAT(leaf(3, frame(2), {caller, 0, 0, outer}), ElementsAre(kJit + 3, caller, outer));
  EXPECT_THAT(leaf(4, frame(3), {frame(3), caller, 0, 0, outer}), ElementsAre(kJit + 4, caller, outer));
  EXPECT_THAT(leaf(7, frame(0), {frame(3), caller, 0, 0, outer}), ElementsAre(kJit + 7, caller, outer));
  EXPECT_THAT(leaf(9, frame(0), {frame(3), caller, 0, 0, outer}), ElementsAre(kJit + 9, caller, outer));
  EXPECT_THAT(leaf(10, frame(2), {caller, 0, 0, outer}), ElementsAre(kJit + 10, caller, outer));
}

TEST_F(UnwinderTest, ABuiltinWithoutAFrameOfItsOwn) {
  const auto frame = [](std::size_t word) { return kStack + word * 8; };
  // Two builtins: one of 64 bytes without prologue; one that calls it: `call rel32` ends at 0x50.
  code_.bytes[kJit - 32] =
      std::string(32, '\xCC') + std::string(75, '\x90') + "\xE8" + std::string(100, '\x90');
  const std::uint64_t caller = kJit + 0x50;
  const std::uint64_t outer = kNative + 0x210;
  EXPECT_THAT(pcs(unwind(kJit + 16, frame(2), {caller, 0, 0, outer})), ElementsAre(kJit + 16, caller, outer));
  // No call before what lies on top: then rbp is the builtin's own.
  EXPECT_THAT(pcs(unwind(kJit + 16, frame(2), {caller + 1, 0, 0, outer})), ElementsAre(kJit + 16, outer));
}

TEST_F(UnwinderTest, ABuiltinThatMakesTheFrameOfItsCaller) {
  const auto frame = [](std::size_t word) { return kStack + word * 8; };
  // inc; pop r15; push rbp; mov rbp, rsp; ...; ret.  Behind calls: a function without a frame yet, and its
  // caller.
  std::string text = "\xFF\xC0\x41\x5F\x55\x48\x89\xE5" + std::string(24, '\x90');
  text += "\xFF\xD0" + std::string(30, '\x90') + "\xFF\xD0" + std::string(100, '\x90');
  code_.bytes[kJit] = text;
  code_.begin = Address{kJit};
  const std::uint64_t entered = kJit + 34;
  const std::uint64_t caller = kJit + 66;
  const std::uint64_t outer = kNative + 0x210;
  const auto stack = unwind(kJit, frame(3), {entered, caller, 0, 0, outer});
  EXPECT_THAT(pcs(stack), ElementsAre(kJit, entered, caller, outer));
  EXPECT_EQ(stack.frame_pointers[1], stack.frame_pointers[2]);
  EXPECT_THAT(pcs(unwind(kJit + 4, frame(2), {caller, 0, 0, outer})), ElementsAre(kJit + 4, caller, outer));
  EXPECT_THAT(pcs(unwind(kJit + 8, frame(0), {frame(3), caller, 0, 0, outer})),
              ElementsAre(kJit + 8, caller, outer));
}

TEST_F(UnwinderTest, AnEpilogueThatHasPoppedRbp) {
  // The rule says that rbp lies below the return address, but that is below rsp now: rbp has been popped.
  const auto frame = [](std::size_t word) { return kStack + word * 8; };
  const auto stack = unwind(kNative + 0x310, frame(2), {kNative + 0x120, 0, 0, kNative + 0x210});
  EXPECT_THAT(pcs(stack), ElementsAre(kNative + 0x310, kNative + 0x120, kNative + 0x210));
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
}

// As OpenSSL's hashes have it: the caller's stack pointer is below the own one, and once more in the frame.
class RealignedFrame : public UnwinderTest {
 protected:
  RealignedFrame() {
    put_jump(kDirect - 5, "\xE8", kFunction);
    put_jump(kByChoice - 5, "\xE8", kChooser);
    put_jump(kChooser + 16, "\x0F\x84", kFunction);
    put_jump(kElsewhere - 5, "\xE8", kNative + 0x800);
    text_.replace(kIndirect - 2 - kNative, 2, "\xFF\xD0");
    code_.bytes[kNative] = text_;
  }

  static std::uint64_t at(std::size_t word) { return kStack + word * 8; }
  UnwoundStack unwind_hash(const std::vector<std::uint64_t>& words) { return unwind(kInside, 0, words); }

  static constexpr std::uint64_t kFunction = kNative + 0x500;
  static constexpr std::uint64_t kInside = kFunction + 0x10;
  static constexpr std::uint64_t kChooser = kNative + 0x700;
  // Return addresses, all in the outermost function.
  static constexpr std::uint64_t kDirect = kNative + 0x210;
  static constexpr std::uint64_t kByChoice = kNative + 0x220;
  static constexpr std::uint64_t kElsewhere = kNative + 0x230;
  static constexpr std::uint64_t kIndirect = kNative + 0x240;

 private:
  void put_jump(std::uint64_t place, const std::string& operation, std::uint64_t target) {
    const auto next = place + operation.size() + 4;
    const std::string bytes = operation + bytes_of(static_cast<std::int32_t>(target - next));
    text_.replace(place - kNative, bytes.size(), bytes);
  }

  std::string text_ = std::string(0x1000, '\x90');
};

TEST_F(RealignedFrame, IsFoundInTheFrame) {
  for (const std::uint64_t caller : {kDirect, kByChoice}) {
    const auto stack = unwind_hash({7, at(0), at(4), 9, caller, 1});
    EXPECT_THAT(pcs(stack), ElementsAre(kInside, caller));
    EXPECT_EQ(stack.end, UnwindEnd::kRoot);
  }
}

TEST_F(RealignedFrame, LeftoversAreToldApart) {
  // Behind a call of another function; behind any call, but further from the stack pointer.
  EXPECT_THAT(pcs(unwind_hash({at(2), at(5), kElsewhere, at(4), kIndirect, kDirect, 1})),
              ElementsAre(kInside, kDirect));
  EXPECT_THAT(pcs(unwind_hash({at(3), at(4), 1, kDirect, kIndirect, 1})), ElementsAre(kInside, kDirect));
}

TEST_F(RealignedFrame, WhatIsNotCertainIsTheEnd) {
  const auto ends = [&](const std::vector<std::uint64_t>& words) {
    const auto stack = unwind_hash(words);
    return stack.pcs.size() == 1 && stack.end == UnwindEnd::kImplausible;
  };
  EXPECT_TRUE(ends({at(3), at(4), 1, kDirect, kByChoice, 1}));  // two
  EXPECT_TRUE(ends({at(3), at(4), 1, kIndirect, kDirect, 1}));  // a nearer one that may be it
  EXPECT_TRUE(ends({at(3), 1, 1, kElsewhere, 1}));
  EXPECT_TRUE(ends({at(3), 1, 1, kIndirect, 1}));
  EXPECT_TRUE(ends({at(3), 1, 1, kDirect + 1, 1}));
  EXPECT_TRUE(ends({at(90), 1}));
  EXPECT_TRUE(ends({1, 2, kDirect, 3}));  // no word leads there
  EXPECT_TRUE(ends({}));
}

TEST_F(UnwinderTest, CodeWithoutRulesIsPassedByAPlausibleFramePointer) {
  const auto frame = [](std::size_t word) { return kStack + word * 8; };
  const auto stack = unwind(kNoRules + 0x10, frame(1), {0, 0, kNative + 0x210});
  EXPECT_THAT(pcs(stack), ElementsAre(kNoRules + 0x10, kNative + 0x210));
  EXPECT_EQ(stack.guessed_frames, 1u);
  EXPECT_EQ(unwind(kNoRules + 0x10, 0, {1, 2, 3}).end, UnwindEnd::kRoot);
  // A return address that is in no code; an rbp below rsp, outside, or leading downwards.
  EXPECT_EQ(unwind(kNoRules + 0x10, frame(1), {0, 0, 0x999}).end, UnwindEnd::kNoRule);
  EXPECT_EQ(unwind(kNoRules + 0x10, kStack - 8, {0, 0, kNative + 0x210}).end, UnwindEnd::kNoRule);
  EXPECT_EQ(unwind(kNoRules + 0x10, 0x99999, {0, 0, kNative + 0x210}).end, UnwindEnd::kNoRule);
  EXPECT_EQ(unwind(kNoRules + 0x10, frame(1), {0, kStack, kNative + 0x210}).end, UnwindEnd::kNoRule);
}

// A function at kNoRules, which has pushed two words, is called from 0x1000's code; a word that leads behind
// another call lies below.
class WithoutRules : public UnwinderTest {
 protected:
  static constexpr std::uint64_t kCaller = kNative + 0x50;  // behind its call
  WithoutRules() {
    code_.begin = Address{kNoRules};
    code_.bytes[kNative + 0x20] = std::string("\x90\x90\xE8\x77\x00\x00\x00", 7);
  }
  UnwoundStack unwind_callee() {
    return unwind(kNoRules + 0x10, 0x1234, {1, kNative + 0x27, kCaller, 1, 2, 3, 4, kNative + 0x210});
  }
};

TEST_F(WithoutRules, TheCallOfThisFunctionIsTheCaller) {
  const std::uint64_t distance = kNoRules - kCaller;
  code_.bytes[kCaller - 7] = std::string("\x90\x90\xE8", 3) + bytes_of(static_cast<std::uint32_t>(distance));
  const auto stack = unwind_callee();
  EXPECT_THAT(pcs(stack), ElementsAre(kNoRules + 0x10, kCaller, kNative + 0x210));
  EXPECT_EQ(stack.end, UnwindEnd::kRoot);
  EXPECT_EQ(stack.guessed_frames, 1u);
}

TEST_F(WithoutRules, AlsoThroughATableOfAddresses) {
  code_.bytes[kCaller - 7] = std::string("\x90\xFF\x15\x00\x01\x00\x00", 7);
  code_.words[kCaller + 0x100] = kNoRules;
  EXPECT_THAT(pcs(unwind_callee()), ElementsAre(kNoRules + 0x10, kCaller, kNative + 0x210));
  code_.words[kCaller + 0x100] = kNoRules + 8;
  EXPECT_THAT(pcs(unwind_callee()), ElementsAre(kNoRules + 0x10));
}

TEST_F(WithoutRules, AlsoThroughAStubOfTheLinker) {
  const std::uint64_t stub = kNative + 0x80;
  code_.bytes[kCaller - 7] =
      std::string("\x90\x90\xE8", 3) + bytes_of(static_cast<std::uint32_t>(stub - kCaller));
  code_.bytes[stub] = std::string("\xF3\x0F\x1E\xFA\xFF\x25\x10\x00\x00\x00", 10);
  code_.words[stub + 10 + 0x10] = kNoRules;
  EXPECT_THAT(pcs(unwind_callee()), ElementsAre(kNoRules + 0x10, kCaller, kNative + 0x210));
}

TEST_F(WithoutRules, WithoutItsCallItIsTheEnd) {
  EXPECT_THAT(pcs(unwind_callee()), ElementsAre(kNoRules + 0x10));
}

TEST_F(UnwinderTest, SaysWhyItEnds) {
  const auto frame = [](std::size_t word) { return kStack + word * 8; };
  EXPECT_EQ(unwind(0x12345, 0, {}).end, UnwindEnd::kRoot);
  EXPECT_EQ(unwind(0x12345, 0x999, {}).end, UnwindEnd::kNoRule);
  EXPECT_EQ(unwind(kNative + 0x10, 0, {1, 2, 3, 4}).end, UnwindEnd::kSnapshotEnd);
  EXPECT_EQ(unwind(kNative + 0x10, 0, {}).end, UnwindEnd::kSnapshotEnd);
  EXPECT_EQ(unwind(kNative + 0x110, kStack - 64, {1, 2, 3}).end, UnwindEnd::kImplausible);
  EXPECT_EQ(unwind(kNative + 0x410, 0, {1, 2, 3}).end, UnwindEnd::kNoRule);  // rbx was not sampled
  EXPECT_EQ(unwind(kNative + 0x10, 0, {1, 2, 3, 4, 0}).end, UnwindEnd::kRoot);
  EXPECT_EQ(unwind(kJit + 0x100, 0x999999, {1, 2}).end, UnwindEnd::kSnapshotEnd);
  // A frame that leads to itself.
  EXPECT_EQ(unwind(kJit + 0x100, frame(0), {frame(0), kJit + 0x200}).end, UnwindEnd::kImplausible);
  for (const UnwindEnd end : {UnwindEnd::kRoot, UnwindEnd::kNoRule, UnwindEnd::kSnapshotEnd,
                              UnwindEnd::kImplausible, UnwindEnd::kTooDeep}) {
    EXPECT_FALSE(to_string(end).empty());
  }
}

TEST_F(UnwinderTest, StopsAtTheLimit) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < 2 * Unwinder::kMaxFrames; ++i) {
    words.push_back(kStack + (words.size() + 2) * 8);
    words.push_back(kJit + 0x100);
  }
  const auto stack = unwind(kJit + 0x200, kStack, words);
  EXPECT_EQ(stack.end, UnwindEnd::kTooDeep);
  EXPECT_EQ(stack.pcs.size(), Unwinder::kMaxFrames);
}

TEST_F(UnwinderTest, NothingWithoutAStackPointer) {
  RegisterSet registers;
  registers.set(Register::kRip, kNative);
  EXPECT_TRUE(unwinder_.unwind(registers, {}, code_).pcs.empty());
}

// ---- this program's own stack

// Every module of this process, by its own file.
class OwnCode final : public CodeMap {
 public:
  OwnCode() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* self) {
          static_cast<OwnCode*>(self)->add(*info);
          return 0;
        },
        this);
  }
  CodeRegion find(Address pc) override {
    for (const auto& module : modules_) {
      for (const ElfSegment& load : module->file->loads()) {
        const Range<Address> range{Address{load.address.value + module->bias},
                                   Address{load.address.value + load.memory_bytes + module->bias}};
        if (range.contains(pc)) return {CodeKind::kNative, range, &module->table, module->bias};
      }
    }
    return {CodeKind::kUnknown, {pc, pc + 1}, nullptr, 0};
  }
  std::span<const std::byte> code(Range<Address>) override { return {}; }

 private:
  struct Module {
    std::string bytes;
    std::optional<ElfFile> file;
    UnwindTable table;
    std::uint64_t bias = 0;
  };

  void add(const dl_phdr_info& info) {
    auto module = std::make_unique<Module>();
    const std::string path =
        modules_.empty() && info.dlpi_name[0] == '\0' ? "/proc/self/exe" : info.dlpi_name;
    std::ifstream file(path, std::ios::binary);
    module->bytes.assign(std::istreambuf_iterator<char>(file), {});
    if (auto parsed = ElfFile::parse(as_byte_span(module->bytes))) {
      module->file = std::move(*parsed);
      module->table = UnwindTable::build(*module->file);
      module->bias = info.dlpi_addr;
      modules_.push_back(std::move(module));
    }
  }

  std::vector<std::unique_ptr<Module>> modules_;
};

// Without the sanitizer's checks: it reads the frames of other functions.
__attribute__((no_sanitize("address"))) std::string copy_stack(std::uint64_t begin) {
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* low = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  const std::uint64_t end = reinterpret_cast<std::uint64_t>(low) + size;
  std::string copy;
  copy.reserve(end - begin);
  for (std::uint64_t at = begin; at < end; ++at) copy += *reinterpret_cast<const volatile char*>(at);
  return copy;
}

RegisterSet registers_of(const ucontext_t& context) {
  // By DWARF number.
  constexpr std::array kPlaces = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                  REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  RegisterSet registers;
  for (std::size_t i = 0; i < kPlaces.size(); ++i) {
    registers.set(static_cast<Register>(i),
                  static_cast<std::uint64_t>(context.uc_mcontext.gregs[kPlaces[i]]));
  }
  return registers;
}

std::vector<std::uint64_t> backtrace_of_libgcc() {
  std::vector<std::uint64_t> pcs;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* result) {
        static_cast<std::vector<std::uint64_t>*>(result)->push_back(_Unwind_GetIP(context));
        return _URC_NO_REASON;
      },
      &pcs);
  return pcs;
}

struct TwoStacks {
  std::vector<std::uint64_t> ours;
  std::vector<std::uint64_t> libgcc;
  UnwindEnd end = UnwindEnd::kRoot;
};

__attribute__((noinline)) TwoStacks unwind_here() {
  ucontext_t context;
  getcontext(&context);
  const RegisterSet registers = registers_of(context);
  const std::uint64_t stack_pointer = *registers.get(Register::kRsp);
  const std::string stack = copy_stack(stack_pointer);
  OwnCode code;
  Unwinder unwinder;
  const UnwoundStack unwound =
      unwinder.unwind(registers, {Address{stack_pointer}, as_byte_span(stack)}, code);
  TwoStacks result;
  for (const Address pc : unwound.pcs) result.ours.push_back(pc.value);
  result.end = unwound.end;
  result.libgcc = backtrace_of_libgcc();
  return result;
}

// libgcc's list begins with backtrace_of_libgcc, unless that was inlined, and with another place in
// unwind_here; it may end with a zero.
void expect_same_callers(TwoStacks stacks) {
  EXPECT_EQ(stacks.end, UnwindEnd::kRoot);
  ASSERT_GT(stacks.ours.size(), 4u);
  std::erase(stacks.libgcc, 0u);
  stacks.ours.erase(stacks.ours.begin());
  ASSERT_GT(stacks.libgcc.size(), stacks.ours.size());
  const std::size_t inner = stacks.libgcc.size() - stacks.ours.size();
  EXPECT_LE(inner, 2u);
  stacks.libgcc.erase(stacks.libgcc.begin(), stacks.libgcc.begin() + static_cast<std::ptrdiff_t>(inner));
  EXPECT_EQ(stacks.ours, stacks.libgcc);
}

TEST(UnwindThisProgram, SameCallersAsLibgcc) {
  expect_same_callers(unwind_here());
}

__attribute__((noinline)) TwoStacks recurse(int depth, volatile int* place) {
  if (depth == 0) return unwind_here();
  // A frame whose size is known only at run time, so that the CFA is not relative to rsp.
  volatile int* more = static_cast<volatile int*>(__builtin_alloca(static_cast<std::size_t>(depth) * 16));
  *more = *place + depth;
  TwoStacks stacks = recurse(depth - 1, more);
  stacks.ours.reserve(static_cast<std::size_t>(*more));
  return stacks;
}

TEST(UnwindThisProgram, ThroughFramesOfUnknownSize) {
  volatile int start = 1;
  expect_same_callers(recurse(50, &start));
}

TEST(UnwindThisProgram, ThroughTheStandardLibrary) {
  std::vector<int> numbers = {2, 1};
  TwoStacks stacks;
  static TwoStacks* result = nullptr;
  result = &stacks;
  std::qsort(numbers.data(), 2, sizeof(int), [](const void*, const void*) {
    *result = unwind_here();
    return 0;
  });
  expect_same_callers(stacks);
}

TwoStacks* g_in_handler = nullptr;

TEST(UnwindThisProgram, ThroughASignalHandler) {
  if (testing::kHasThreadSanitizer) GTEST_SKIP() << "the handler unwinds, which allocates";
  TwoStacks stacks;
  g_in_handler = &stacks;
  struct sigaction action = {};
  action.sa_handler = [](int) { *g_in_handler = unwind_here(); };
  struct sigaction before = {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  expect_same_callers(stacks);
}

}  // namespace
}  // namespace nodescope
