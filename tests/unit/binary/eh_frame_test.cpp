#include "binary/eh_frame.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "binary/eh_frame_expression.h"
#include "eh_frame_builder.h"
#include "own_binary.h"

namespace nodescope {
namespace {

using testing::EhFrameBuilder;
using testing::uleb;
using namespace std::string_literals;

// "rsp+16 rbp=c-16 rip=c-8", in the manner of `readelf -wF`.
std::string to_text(const std::optional<UnwindRow>& row) {
  if (!row) return "none";
  constexpr std::array kNames = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                 "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
  std::string text = row->cfa.kind == RuleKind::kRegister
                         ? fmt::format("{}{:+}", kNames[row->cfa.base], row->cfa.offset)
                         : "expression";
  for (std::size_t i = 0; i < kRegisterCount; ++i) {
    const RegisterRule rule = row->registers[i];
    switch (rule.kind) {
      case RuleKind::kSame:
        break;
      case RuleKind::kUndefined:
        text += fmt::format(" {}=undefined", kNames[i]);
        break;
      case RuleKind::kAtCfa:
        text += fmt::format(" {}=c{:+}", kNames[i], rule.value);
        break;
      case RuleKind::kCfa:
        text += fmt::format(" {}=v{:+}", kNames[i], rule.value);
        break;
      case RuleKind::kRegister:
        text += fmt::format(" {}={}", kNames[i], kNames[static_cast<std::size_t>(rule.value)]);
        break;
      case RuleKind::kAtExpression:
        text += fmt::format(" {}=at expression", kNames[i]);
        break;
      case RuleKind::kExpression:
        text += fmt::format(" {}=expression", kNames[i]);
        break;
    }
  }
  return text + (row->signal_frame ? " signal" : "");
}

// Rows of a function at 0x1000 of 0x100 bytes with these instructions.
class OneFunction {
 public:
  explicit OneFunction(const std::string& instructions, const std::string& letters = "zR") {
    EhFrameBuilder builder;
    builder.add_function(builder.add_usual_common(letters), 0x1000, 0x100, instructions);
    bytes_ = builder.elf(true);
    file_ = ElfFile::parse(as_byte_span(bytes_)).value();
    table_ = UnwindTable::build(*file_);
  }
  std::string row_at(std::uint64_t pc) const { return to_text(table_.find(FileAddress{pc})); }
  const UnwindTable& table() const { return table_; }

 private:
  std::string bytes_;
  std::optional<ElfFile> file_;
  UnwindTable table_;
};

// push rbp; mov rbp, rsp; …; leave; ret, as gcc describes it.
const std::string kUsual = "\x41\x0E\x10\x86\x02\x43\x0D\x06\x50\x0C\x07\x08";

TEST(EhFrame, RowsOfAUsualFunction) {
  const OneFunction function(kUsual);
  EXPECT_EQ(function.row_at(0xFFF), "none");
  EXPECT_EQ(function.row_at(0x1000), "rsp+8 rip=c-8");
  EXPECT_EQ(function.row_at(0x1001), "rsp+16 rbp=c-16 rip=c-8");
  EXPECT_EQ(function.row_at(0x1003), "rsp+16 rbp=c-16 rip=c-8");
  EXPECT_EQ(function.row_at(0x1004), "rbp+16 rbp=c-16 rip=c-8");
  EXPECT_EQ(function.row_at(0x1013), "rbp+16 rbp=c-16 rip=c-8");
  EXPECT_EQ(function.row_at(0x1014), "rsp+8 rbp=c-16 rip=c-8");
  EXPECT_EQ(function.row_at(0x10FF), "rsp+8 rbp=c-16 rip=c-8");
  EXPECT_EQ(function.row_at(0x1100), "none");
}

TEST(EhFrame, RemembersAndRestoresStates) {
  // An epilogue in the middle: remember; back to the entry state; restore.
  const OneFunction function("\x41\x0E\x10\x83\x02\x44\x0A\x0E\x08\xC3\x41\x0B");
  EXPECT_EQ(function.row_at(0x1004), "rsp+16 rbx=c-16 rip=c-8");
  EXPECT_EQ(function.row_at(0x1005), "rsp+8 rip=c-8");
  EXPECT_EQ(function.row_at(0x1006), "rsp+16 rbx=c-16 rip=c-8");
}

TEST(EhFrame, KnowsEveryInstruction) {
  const auto row = [](const std::string& instructions) { return OneFunction(instructions).row_at(0x10F0); };
  EXPECT_EQ(row("\x02\x10\x0E\x10"), "rsp+16 rip=c-8");                       // advance_loc1, def_cfa_offset
  EXPECT_EQ(row("\x03\x10\x00\x0E\x18"s), "rsp+24 rip=c-8");                  // advance_loc2
  EXPECT_EQ(row("\x04\x10\x00\x00\x00\x0E\x20"s), "rsp+32 rip=c-8");          // advance_loc4
  EXPECT_EQ(row("\x05\x0F\x03"), "rsp+8 r15=c-24 rip=c-8");                   // offset_extended
  EXPECT_EQ(row("\x05\x0F\x03\x06\x0F"), "rsp+8 rip=c-8");                    // restore_extended
  EXPECT_EQ(row("\x07\x10"), "rsp+8 rip=undefined");                          // undefined
  EXPECT_EQ(row("\x08\x10"), "rsp+8");                                        // same_value
  EXPECT_EQ(row("\x09\x10\x05"), "rsp+8 rip=rdi");                            // register
  EXPECT_EQ(row("\x11\x03\x7E"), "rsp+8 rbx=c+16 rip=c-8");                   // offset_extended_sf
  EXPECT_EQ(row("\x12\x06\x7E"), "rbp+16 rip=c-8");                           // def_cfa_sf
  EXPECT_EQ(row("\x13\x7D"), "rsp+24 rip=c-8");                               // def_cfa_offset_sf
  EXPECT_EQ(row("\x14\x07\x02"), "rsp+8 rsp=v-16 rip=c-8");                   // val_offset
  EXPECT_EQ(row("\x15\x07\x7E"), "rsp+8 rsp=v+16 rip=c-8");                   // val_offset_sf
  EXPECT_EQ(row("\x10\x06\x02\x77\x08"), "rsp+8 rbp=at expression rip=c-8");  // expression
  EXPECT_EQ(row("\x16\x06\x02\x77\x08"), "rsp+8 rbp=expression rip=c-8");     // val_expression
  EXPECT_EQ(row("\x0F\x02\x77\x08"), "expression rip=c-8");                   // def_cfa_expression
  EXPECT_EQ(row("\x2E\x10"), "rsp+8 rip=c-8");                                // GNU_args_size
  EXPECT_EQ(row("\x2F\x03\x02"), "rsp+8 rbx=c+16 rip=c-8");                   // GNU_negative_offset_extended
  EXPECT_EQ(row("\x05\x11\x03"), "rsp+8 rip=c-8");                            // of xmm0: read, not kept
  EXPECT_EQ(row("\x01" + testing::bytes_of(std::int32_t{0x10})), "rsp+8 rip=c-8");  // set_loc
}

TEST(EhFrame, BrokenInstructionsGiveNoRow) {
  const auto row = [](const std::string& instructions) { return OneFunction(instructions).row_at(0x10F0); };
  EXPECT_EQ(row("\x3F"), "none");          // unknown
  EXPECT_EQ(row("\x0B"), "none");          // restore_state without remember_state
  EXPECT_EQ(row("\x0C\x11\x08"), "none");  // a CFA by a register that is none
  EXPECT_EQ(row("\x09\x10\x20"), "none");
  EXPECT_EQ(row("\x0F\x20\x77"), "none");  // an expression that is longer than the entry
  EXPECT_EQ(row("\x0E\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"), "none");
  EXPECT_EQ(row("\x0F\x02\x77\x08\x0E\x10"), "none");  // an offset to a CFA that is an expression
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += '\x0A';
  EXPECT_EQ(row(deep), "none");
}

TEST(EhFrame, SignalFrames) {
  EXPECT_EQ(OneFunction("", "zRS").row_at(0x1010), "rsp+8 rip=c-8 signal");
}

EhFrameBuilder three_functions() {
  EhFrameBuilder builder;
  const auto common = builder.add_usual_common();
  builder.add_function(common, 0x1000, 0x10, "");
  builder.add_function(common, 0x1020, 0x10, kUsual);
  builder.add_function(common, 0x1400, 0x100, "\x41\x0E\x20");
  return builder;
}

TEST(EhFrame, FindsFunctionsByTheHeaderByScanAndWithoutSections) {
  const EhFrameBuilder builder = three_functions();
  for (const std::string& bytes : {builder.elf(true), builder.elf(false), builder.elf(true, false)}) {
    const auto file = ElfFile::parse(as_byte_span(bytes)).value();
    const UnwindTable table = UnwindTable::build(file);
    ASSERT_EQ(table.size(), 3u);
    EXPECT_EQ(table.find_function(FileAddress{0x102F}),
              (Range<FileAddress>{FileAddress{0x1020}, FileAddress{0x1030}}));
    EXPECT_EQ(table.function(2), (Range<FileAddress>{FileAddress{0x1400}, FileAddress{0x1500}}));
    EXPECT_FALSE(table.function(3));
    EXPECT_FALSE(table.find(FileAddress{0x1010}));
    EXPECT_FALSE(table.find(FileAddress{0}));
    EXPECT_EQ(to_text(table.find(FileAddress{0x1024})), "rbp+16 rbp=c-16 rip=c-8");
    EXPECT_EQ(to_text(table.find(FileAddress{0x1480})), "rsp+32 rip=c-8");
  }
}

TEST(EhFrame, NoTableForOtherBinaries) {
  testing::ElfBuilder builder;
  builder.add_text(0x1000, "code");
  const std::string bytes = builder.build();
  EXPECT_TRUE(UnwindTable::build(*ElfFile::parse(as_byte_span(bytes))).empty());
}

TEST(EhFrame, EveryPrefixAndEveryChangedByteIsSafe) {
  const std::string good = three_functions().elf(true);
  const auto use = [](const std::string& bytes) {
    const auto file = ElfFile::parse(as_byte_span(bytes));
    if (!file) return;
    const UnwindTable table = UnwindTable::build(*file);
    for (const std::uint64_t pc : {0x1000u, 0x1024u, 0x1480u}) (void)table.find(FileAddress{pc});
    for (std::size_t i = 0; i < std::min<std::size_t>(table.size(), 10); ++i) (void)table.function(i);
  };
  for (std::size_t size = 0; size < good.size(); ++size) use(good.substr(0, size));
  for (std::size_t i = 0; i < good.size(); ++i) {
    if (i >= 0x200 && i < 0x1100) continue;  // the code, which is not looked at
    for (const char value : {'\x00', '\x7F', '\xFF'}) {
      std::string changed = good;
      changed[i] = value;
      use(changed);
    }
  }
}

TEST(EhFrame, DescribesThisProgram) {
  const UnwindTable table = UnwindTable::build(testing::own_binary());
  ASSERT_GT(table.size(), 1000u);
  std::size_t with_row = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto function = table.function(i);
    ASSERT_TRUE(function);
    const auto row = table.find(function->begin);
    ASSERT_TRUE(row);
    // At its first instruction, a function has nothing but the return address; PLT stubs have an expression.
    if (row->cfa == CfaRule{RuleKind::kRegister, static_cast<std::uint8_t>(Register::kRsp), 8}) ++with_row;
  }
  EXPECT_GT(with_row * 10, table.size() * 9);
}

class FakeContext final : public ExpressionContext {
 public:
  std::map<std::uint64_t, std::uint64_t> registers;
  std::map<std::uint64_t, std::uint64_t> words;

  std::optional<std::uint64_t> register_value(std::uint64_t number) const override {
    const auto found = registers.find(number);
    return found != registers.end() ? std::optional(found->second) : std::nullopt;
  }
  std::optional<std::uint64_t> memory(std::uint64_t address, std::size_t) const override {
    const auto found = words.find(address);
    return found != words.end() ? std::optional(found->second) : std::nullopt;
  }
};

std::optional<std::uint64_t> evaluate(const std::string& expression, const FakeContext& context = {},
                                      std::optional<std::uint64_t> initial = {}) {
  return evaluate_expression(as_byte_span(expression), context, initial);
}

TEST(Expression, TheOneOfPltStubs) {
  // rsp + 8 + ((rip & 15) >= 11) << 3: behind its `push`, a stub has one word more on the stack.
  const std::string plt = "\x77\x08\x80\x00\x3F\x1A\x3B\x2A\x33\x24\x22"s;
  FakeContext context;
  context.registers = {{7, 0x1000}, {16, 0x40002A}};
  EXPECT_EQ(evaluate(plt, context), 0x1008u);
  context.registers[16] = 0x40002B;
  EXPECT_EQ(evaluate(plt, context), 0x1010u);
  context.registers.erase(7);
  EXPECT_EQ(evaluate(plt, context), std::nullopt);
}

TEST(Expression, ReadsMemory) {
  FakeContext context;
  context.registers = {{6, 0x2000}};
  context.words = {{0x1FF8, 77}};
  EXPECT_EQ(evaluate("\x76\x78\x06", context), 77u);
  EXPECT_EQ(evaluate("\x92\x06\x78\x94\x04", context), 77u);
  EXPECT_EQ(evaluate("\x76\x70\x06", context), std::nullopt);
  EXPECT_EQ(evaluate("\x76\x78\x94\x09", context), std::nullopt);
}

TEST(Expression, Arithmetic) {
  const auto u64 = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  EXPECT_EQ(evaluate("\x08\xFF"), 0xFFu);
  EXPECT_EQ(evaluate("\x09\xFF"), u64(-1));
  EXPECT_EQ(evaluate("\x0A\xFF\xFF"), 0xFFFFu);
  EXPECT_EQ(evaluate("\x0B\xFE\xFF"), u64(-2));
  EXPECT_EQ(evaluate("\x0D\xFD\xFF\xFF\xFF"), u64(-3));
  EXPECT_EQ(evaluate("\x10\x80\x01"), 128u);
  EXPECT_EQ(evaluate("\x11\x7F"), u64(-1));
  EXPECT_EQ(evaluate("\x35\x32\x1C"), 3u);            // 5 - 2
  EXPECT_EQ(evaluate("\x35\x32\x1E"), 10u);           // 5 * 2
  EXPECT_EQ(evaluate("\x35\x1F\x32\x1B"), u64(-2));   // -5 / 2
  EXPECT_EQ(evaluate("\x35\x32\x1D"), 1u);            // 5 mod 2
  EXPECT_EQ(evaluate("\x35\x30\x1B"), std::nullopt);  // 5 / 0
  EXPECT_EQ(evaluate("\x35\x30\x1D"), std::nullopt);
  EXPECT_EQ(evaluate("\x35\x1F\x19"), 5u);             // abs(-5)
  EXPECT_EQ(evaluate("\x30\x20"), ~std::uint64_t{0});  // not 0
  EXPECT_EQ(evaluate("\x31\x08\x40\x24"), 0u);         // 1 << 64
  EXPECT_EQ(evaluate("\x31\x1F\x31\x26"), u64(-1));    // -1 >> 1, signed
  EXPECT_EQ(evaluate("\x35\x31\x27"), 4u);             // 5 xor 1
  EXPECT_EQ(evaluate("\x31\x32\x12\x22\x22"), 5u);     // dup
  EXPECT_EQ(evaluate("\x31\x32\x14"), 1u);             // over
  EXPECT_EQ(evaluate("\x31\x32\x33\x15\x02"), 1u);     // pick
  EXPECT_EQ(evaluate("\x31\x32\x16"), 1u);             // swap
  EXPECT_EQ(evaluate("\x31\x32\x33\x17"), 2u);         // rot
  EXPECT_EQ(evaluate("\x31\x23\x09"), 10u);            // plus_uconst
  EXPECT_EQ(evaluate("\x23\x09", {}, 1), 10u);
  EXPECT_EQ(evaluate("\x0E\x00\x00\x00\x00\x00\x00\x00\x80\x11\x7F\x1B"s),
            0x8000000000000000u);  // the smallest / -1
}

TEST(Expression, Branches) {
  EXPECT_EQ(evaluate("\x35\x2F\x01\x00\x13"s), 5u);          // skip over a drop
  EXPECT_EQ(evaluate("\x35\x31\x28\x01\x00\x13"s), 5u);      // taken
  EXPECT_EQ(evaluate("\x35\x36\x30\x28\x01\x00\x13"s), 5u);  // not taken
  EXPECT_EQ(evaluate("\x2F\xFD\xFF"), std::nullopt);         // for ever
  EXPECT_EQ(evaluate("\x2F\xFC\xFF"), std::nullopt);         // before the begin
  EXPECT_EQ(evaluate("\x35\x2F\x7F\x00"s), std::nullopt);    // behind the end
}

TEST(Expression, RefusesTheRest) {
  EXPECT_EQ(evaluate(""), std::nullopt);
  EXPECT_EQ(evaluate("\x22"), std::nullopt);
  EXPECT_EQ(evaluate("\xF0"), std::nullopt);
  EXPECT_EQ(evaluate("\x0E\x01"), std::nullopt);
  EXPECT_EQ(evaluate(std::string(65, '\x31')), std::nullopt);
  EXPECT_EQ(evaluate(std::string(64, '\x31')), 1u);
}

}  // namespace
}  // namespace nodescope
