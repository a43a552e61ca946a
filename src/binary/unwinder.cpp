#include "binary/unwinder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "binary/eh_frame_expression.h"
#include "binary/leaf_frame.h"

namespace nodescope {

namespace {

// 150 bytes each.  A busy process has some ten thousand places where functions are called.
constexpr std::size_t kMaxCachedRows = 1 << 17;
constexpr std::uint32_t kNoRow = 0xFFFFFFFFu;

// The largest builtins have 15 KB.
constexpr std::uint64_t kBuiltinLookBackBytes = std::uint64_t{16} * 1024;
// To see a prologue at pc; the longest call instruction.
constexpr std::uint64_t kPrologueBytes = 4;
constexpr std::uint64_t kCallBytes = 7;

constexpr std::uint64_t kWordBytes = 8;
constexpr std::uint64_t kRedZoneBytes = 128;

// Those of musl that are executed much have far less: memcpy, malloc, pthread_mutex_lock.
constexpr std::uint64_t kMaxFrameWithoutRules = std::uint64_t{2} * 1024;

// The largest frames that keep the caller's stack pointer below their own are those of OpenSSL's hashes: 3.4
// KB with the gap that aligns them, and 1.2 KB more while they run.
constexpr std::uint64_t kMaxRealignedBytes = std::uint64_t{8} * 1024;
// They are entered by a jump from a function that looks at the processor first.
constexpr std::uint64_t kChoosingBytes = 128;

}  // namespace

// One stack on its way from the innermost frame outwards.
class StackWalk final : private ExpressionContext {
 public:
  StackWalk(Unwinder& unwinder, const RegisterSet& registers, StackSnapshot stack, CodeMap& code)
      : unwinder_(unwinder), registers_(registers), stack_(stack), code_(code) {}

  UnwoundStack run() {
    auto& pcs = unwinder_.pcs_;
    pcs.clear();
    unwinder_.frame_pointers_.clear();
    const auto first = registers_.get(Register::kRip);
    if (!first || !registers_.get(Register::kRsp)) return {{}, UnwindEnd::kNoRule, 0, {}};
    std::optional<UnwindEnd> end;
    for (Address pc{*first}; !end; pc = Address{*registers_.get(Register::kRip)}) {
      pcs.push_back(pc);
      unwinder_.frame_pointers_.emplace_back(registers_.get(Register::kRbp).value_or(0));
      end = pcs.size() == Unwinder::kMaxFrames ? UnwindEnd::kTooDeep : step(pc);
      behind_call_ = !interrupted_;
    }
    return {pcs, *end, guessed_frames_, unwinder_.frame_pointers_};
  }

 private:
  // Puts the caller's registers in place of the current ones, or says why that is the end.
  std::optional<UnwindEnd> step(Address pc) {
    // A return address may lie behind the end of its function, when the call never returns.
    const Address inside = behind_call_ ? pc - 1 : pc;
    const CodeRegion region = find_region(inside);
    const bool leaf = !behind_call_;
    interrupted_ = false;
    switch (region.kind) {
      case CodeKind::kNative:
        if (region.table != nullptr) {
          const UnwindRow* row = unwinder_.find_row(*region.table, FileAddress{inside.value - region.bias});
          if (row != nullptr) return step_by_row(*row, region, inside);
        }
        return step_without_rules(inside);
      case CodeKind::kFramed:
        if (leaf) return step_from_leaf(pc, region);
        return std::exchange(caller_has_no_frame_, false)
                   ? step_by_frame(std::nullopt, *registers_.get(Register::kRsp))
                   : step_by_frame_pointer();
      case CodeKind::kUnknown:
        break;
    }
    return guess_by_frame_pointer();
  }

  // ---- native code

  std::optional<UnwindEnd> step_by_row(const UnwindRow& row, const CodeRegion& region, Address pc) {
    const UnwindTable& table = *region.table;
    const auto& return_rule = row.registers[static_cast<std::size_t>(Register::kRip)];
    if (return_rule.kind == RuleKind::kUndefined) return UnwindEnd::kRoot;
    if (return_rule.kind == RuleKind::kSame) return UnwindEnd::kNoRule;
    reads_below_stack_ = false;
    auto cfa = cfa_of(row.cfa, table);
    if (reads_below_stack_) cfa = settle_cfa(row.cfa, region, pc, cfa);
    if (!cfa) return failure_;
    RegisterSet caller = registers_;
    caller.set(Register::kRsp, *cfa);
    for (std::size_t i = 0; i < kRegisterCount; ++i) {
      const RegisterRule& rule = row.registers[i];
      if (rule.kind == RuleKind::kSame) continue;
      const auto which = static_cast<Register>(i);
      if (is_restored(rule, *cfa)) continue;
      const auto value = value_of(rule, *cfa, table);
      if (value) {
        caller.set(which, *value);
      } else if (which == Register::kRip || which == Register::kRsp) {
        return failure_;
      } else {
        caller.forget(which);
      }
    }
    interrupted_ = row.signal_frame;
    return move_to(caller);
  }

  std::optional<std::uint64_t> cfa_of(const CfaRule& rule, const UnwindTable& table) {
    failure_ = UnwindEnd::kNoRule;
    if (rule.kind == RuleKind::kRegister) {
      const auto base = registers_.get(static_cast<Register>(rule.base));
      return base ? std::optional(*base + extend(rule.offset)) : std::nullopt;
    }
    if (rule.kind != RuleKind::kExpression) return std::nullopt;
    return evaluate_expression(table.expression(rule.offset), *this, std::nullopt);
  }

  std::optional<std::uint64_t> value_of(const RegisterRule& rule, std::uint64_t cfa,
                                        const UnwindTable& table) {
    failure_ = UnwindEnd::kNoRule;
    switch (rule.kind) {
      case RuleKind::kAtCfa:
        return read_word(cfa + extend(rule.value));
      case RuleKind::kCfa:
        return cfa + extend(rule.value);
      case RuleKind::kRegister:
        return registers_.get(static_cast<Register>(rule.value));
      case RuleKind::kAtExpression: {
        const auto address = evaluate_expression(table.expression(rule.value), *this, cfa);
        return address ? read_word(*address) : std::nullopt;
      }
      case RuleKind::kExpression:
        return evaluate_expression(table.expression(rule.value), *this, cfa);
      case RuleKind::kSame:
      case RuleKind::kUndefined:
        return std::nullopt;
    }
    return std::nullopt;
  }

  // In an epilogue, gcc leaves the rule of a register as it was when the register has been popped: its place
  // is below the stack pointer now.
  bool is_restored(const RegisterRule& rule, std::uint64_t cfa) const {
    return rule.kind == RuleKind::kAtCfa && cfa + extend(rule.value) < *registers_.get(Register::kRsp);
  }

  static std::uint64_t extend(std::int32_t value) { return static_cast<std::uint64_t>(std::int64_t{value}); }

  // The copy of the stack does not hold the word below the stack pointer that tells the CFA.  Such functions
  // have the same word in a second place of their frame, in the copy.  Where that does not tell, the word as
  // it is now counts, of a later moment, if it leads to a frame that may have called this function.
  std::optional<std::uint64_t> settle_cfa(const CfaRule& rule, const CodeRegion& region, Address pc,
                                          std::optional<std::uint64_t> cfa_now) {
    failure_ = UnwindEnd::kImplausible;
    const auto range = region.table->find_function(FileAddress{pc.value - region.bias});
    if (!range) return std::nullopt;
    const std::uint64_t function = range->begin.value + region.bias;
    if (const auto cfa = find_saved_cfa(rule, *region.table, function)) return cfa;
    const bool plausible = cfa_now && calls(read_word(*cfa_now - kWordBytes), function) != Calls::kNo;
    failure_ = UnwindEnd::kImplausible;
    return plausible ? cfa_now : std::nullopt;
  }

  // The nearest word to the stack pointer that leads behind a call of this function.  The gap of a frame that
  // was aligned lies above it, and holds what earlier calls have left: words that lead behind other calls.
  std::optional<std::uint64_t> find_saved_cfa(const CfaRule& rule, const UnwindTable& table,
                                              std::uint64_t function) {
    const std::uint64_t begin = *registers_.get(Register::kRsp);
    if (begin % kWordBytes != 0) return std::nullopt;
    std::optional<std::uint64_t> found;
    std::uint64_t end = begin + kMaxRealignedBytes;
    for (std::uint64_t place = begin; place < end; place += kWordBytes) {
      const auto word = read_word(place);
      if (!word) break;
      if (*word <= place || *word >= begin + kMaxRealignedBytes || *word % kWordBytes != 0) continue;
      substitute_ = word;
      const auto cfa = cfa_of(rule, table);
      substitute_.reset();
      if (!cfa || *cfa <= place) continue;
      const Calls called = calls(read_word(*cfa - kWordBytes), function);
      if (called == Calls::kNo || (called == Calls::kPerhaps && found)) continue;
      if (called == Calls::kPerhaps || (found && found != cfa)) return std::nullopt;
      found = cfa;
      end = std::min(end, *cfa);
    }
    return found;
  }

  // Whether there is a call before `return_address` that leads to `function`, at once or by a jump.
  enum class Calls : std::uint8_t { kNo, kPerhaps, kYes };
  Calls calls(std::optional<std::uint64_t> return_address, std::uint64_t function) {
    if (!return_address || *return_address < kCallBytes) return Calls::kNo;
    if (find_region(Address{*return_address - 1}).kind == CodeKind::kUnknown) return Calls::kNo;
    const auto call = code_.code({Address{*return_address - kCallBytes}, Address{*return_address}});
    const std::uint64_t target = direct_call_target(call, *return_address);
    if (target == function) return Calls::kYes;
    if (target == 0) {
      if (leads_to(called_pointer(call, *return_address), function)) return Calls::kYes;
      return ends_with_call(call) ? Calls::kPerhaps : Calls::kNo;
    }
    const auto first = code_.code({Address{target}, Address{target} + kChoosingBytes});
    if (has_jump_to(first, target, function)) return Calls::kYes;
    if (leads_to(jumped_pointer(first, target), function)) return Calls::kYes;
    return first.empty() || begins_with_indirect_jump(first) ? Calls::kPerhaps : Calls::kNo;
  }

  // Linkers put the addresses of functions of other modules in tables.
  bool leads_to(std::uint64_t pointer, std::uint64_t function) {
    return pointer != 0 && code_.word_now(Address{pointer}) == function;
  }

  // ---- native code without rules, such as all of musl

  // It does not tell how large its frames are: the return address is the nearest word from the stack pointer
  // on that leads behind a call of the very function that is executed.
  std::optional<UnwindEnd> step_without_rules(Address pc) {
    const auto place = find_return_address(pc);
    if (!place) return guess_by_frame_pointer();
    RegisterSet caller;
    caller.set(Register::kRip, *read_word(*place));
    caller.set(Register::kRsp, *place + kWordBytes);
    if (const auto frame = find_frame_pointer(*place)) caller.set(Register::kRbp, *frame);
    ++guessed_frames_;
    return move_to(caller);
  }

  std::optional<std::uint64_t> find_return_address(Address pc) {
    const auto function = code_.function_begin(pc);
    const std::uint64_t begin = *registers_.get(Register::kRsp);
    if (!function || begin % kWordBytes != 0) return std::nullopt;
    for (std::uint64_t place = begin; place < begin + kMaxFrameWithoutRules; place += kWordBytes) {
      const auto word = read_word(place);
      if (!word) break;
      if (calls(word, function->value) == Calls::kYes) return place;
    }
    return std::nullopt;
  }

  // Of the caller, whose return address lies at `end`: still in its register, or the first that the function
  // pushed.
  std::optional<std::uint64_t> find_frame_pointer(std::uint64_t end) {
    const auto now = registers_.get(Register::kRbp);
    if (now && is_frame_pointer(*now, end)) return now;
    std::optional<std::uint64_t> pushed;
    for (std::uint64_t place = *registers_.get(Register::kRsp); place < end; place += kWordBytes) {
      const auto word = read_word(place);
      if (word && is_frame_pointer(*word, end)) pushed = word;
    }
    return pushed;
  }

  // The word above what a frame pointer leads to leads behind a call.
  bool is_frame_pointer(std::uint64_t frame, std::uint64_t end) {
    if (frame <= end || frame % kWordBytes != 0) return false;
    const auto word = read_word(frame + kWordBytes);
    if (!word || *word < kCallBytes || find_region(Address{*word - 1}).kind == CodeKind::kUnknown)
      return false;
    return ends_with_call(code_.code({Address{*word - kCallBytes}, Address{*word}}));
  }

  // ---- code with frame pointers

  std::optional<UnwindEnd> step_by_frame_pointer() {
    const auto frame = registers_.get(Register::kRbp);
    if (!frame) return UnwindEnd::kNoRule;
    return step_by_frame(frame, *frame + kWordBytes);
  }

  // The caller's rbp lies at `saved` and the return address at `return_place`, the last word of the frame.
  std::optional<UnwindEnd> step_by_frame(std::optional<std::uint64_t> saved, std::uint64_t return_place) {
    const auto return_address = read_word(return_place);
    const auto frame_pointer = saved ? read_word(*saved) : registers_.get(Register::kRbp);
    if (!return_address || (saved && !frame_pointer)) return failure_;
    RegisterSet caller;
    caller.set(Register::kRip, *return_address);
    caller.set(Register::kRsp, return_place + kWordBytes);
    if (frame_pointer) caller.set(Register::kRbp, *frame_pointer);
    return move_to(caller);
  }

  std::optional<UnwindEnd> step_from_leaf(Address pc, const CodeRegion& region) {
    const std::uint64_t top = *registers_.get(Register::kRsp);
    switch (find_leaf_frame(leaf_code(pc, region))) {
      case LeafFrame::kOnlyReturn:
        return step_by_frame(std::nullopt, top);
      case LeafFrame::kRbpPushed:
        return step_by_frame(top, top + kWordBytes);
      case LeafFrame::kTwoReturns:
        caller_has_no_frame_ = true;
        return step_by_frame(std::nullopt, top);
      case LeafFrame::kComplete:
        break;
    }
    return step_by_frame_pointer();
  }

  static Address leaf_code_end(Address begin, Address pc, const CodeRegion& region) {
    const Address head_end = std::min(begin + kLeafHeadBytes, region.range.end);
    return std::max(head_end, pc + kPrologueBytes);
  }

  LeafCode leaf_code(Address pc, const CodeRegion& region) {
    LeafCode leaf;
    const std::uint64_t top = *registers_.get(Register::kRsp);
    leaf.top_is_return_address = is_return_address_at(top);
    leaf.second_is_return_address = leaf.top_is_return_address && is_return_address_at(top + kWordBytes);
    if (const auto frame = registers_.get(Register::kRbp); frame && *frame > top) {
      leaf.frame_bytes = *frame - top;
      leaf.frame_type = read_word(*frame - kWordBytes).value_or(0);
    }
    if (const auto begin = code_.function_begin(pc); begin && *begin <= pc) {
      leaf.bytes = code_.code({*begin, leaf_code_end(*begin, pc, region)});
      leaf.pc = static_cast<std::size_t>(pc - *begin);
      leaf.from_begin = !leaf.bytes.empty() || leaf.pc == 0;
      return leaf;
    }
    const Address from = std::max(region.range.begin, pc - std::min(pc.value, kBuiltinLookBackBytes));
    leaf.bytes = code_.code({from, leaf_code_end(pc, pc, region)});
    leaf.pc = static_cast<std::size_t>(pc - from);
    if (leaf.pc >= leaf.bytes.size()) return leaf;
    std::size_t begin = find_builtin_begin(leaf.bytes, leaf.pc, from.value);
    if (begin == leaf.bytes.size() && from == region.range.begin) begin = 0;
    if (begin < leaf.bytes.size()) {
      leaf.bytes = leaf.bytes.subspan(begin);
      leaf.pc -= begin;
      leaf.from_begin = true;
    }
    return leaf;
  }

  // Only generated code calls generated code, except where a frame is always there.
  bool is_return_address_at(std::uint64_t place) {
    const auto word = read_word(place);
    if (!word || *word < kCallBytes || find_region(Address{*word - 1}).kind != CodeKind::kFramed)
      return false;
    return ends_with_call(code_.code({Address{*word - kCallBytes}, Address{*word}}));
  }

  // Code without rules.  It often keeps rbp untouched or uses it as a frame pointer: if rbp leads to a frame
  // whose return address is in code that we know, that is taken and counted.
  std::optional<UnwindEnd> guess_by_frame_pointer() {
    const auto frame = registers_.get(Register::kRbp);
    if (!frame) return UnwindEnd::kNoRule;
    // Programs and threads begin with rbp cleared, so that this marks the outermost frame.
    if (*frame == 0) return UnwindEnd::kRoot;
    const auto saved = read_word(*frame);
    const auto return_address = read_word(*frame + kWordBytes);
    if (!saved || !return_address || *frame < *registers_.get(Register::kRsp)) return UnwindEnd::kNoRule;
    if (*saved != 0 && *saved <= *frame) return UnwindEnd::kNoRule;
    if (find_region(Address{*return_address - 1}).kind == CodeKind::kUnknown) return UnwindEnd::kNoRule;
    ++guessed_frames_;
    return step_by_frame_pointer();
  }

  // ---- common

  std::optional<UnwindEnd> move_to(const RegisterSet& caller) {
    const auto stack_pointer = *caller.get(Register::kRsp);
    if (*caller.get(Register::kRip) == 0) return UnwindEnd::kRoot;
    if (stack_pointer <= *registers_.get(Register::kRsp)) return UnwindEnd::kImplausible;
    registers_ = caller;
    return std::nullopt;
  }

  // Sets failure_ to what a missing word means.
  std::optional<std::uint64_t> read_word(std::uint64_t address) { return read(address, kWordBytes); }

  std::optional<std::uint64_t> read(std::uint64_t address, std::size_t size_bytes) const {
    const std::uint64_t offset = address - stack_.begin.value;
    if (offset > stack_.bytes.size() || stack_.bytes.size() - offset < size_bytes) {
      failure_ = address < stack_.begin.value ? UnwindEnd::kImplausible : UnwindEnd::kSnapshotEnd;
      return std::nullopt;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, stack_.bytes.data() + offset, size_bytes);
    return value;
  }

  std::optional<std::uint64_t> register_value(std::uint64_t number) const override {
    return number < kRegisterCount ? registers_.get(static_cast<Register>(number)) : std::nullopt;
  }
  std::optional<std::uint64_t> memory(std::uint64_t address, std::size_t size_bytes) const override {
    const bool below_stack = address < stack_.begin.value && stack_.begin.value - address <= kRedZoneBytes;
    if (!below_stack || size_bytes != kWordBytes) return read(address, size_bytes);
    if (substitute_) return substitute_;
    const auto word = code_.word_now(Address{address});
    if (!word) failure_ = UnwindEnd::kImplausible;
    reads_below_stack_ = true;
    return word;
  }

  // A stack goes through a few regions again and again.
  CodeRegion find_region(Address pc) {
    for (const CodeRegion& region : regions_) {
      if (region.range.contains(pc)) return region;
    }
    const CodeRegion region = code_.find(pc);
    regions_[next_region_] = region;
    next_region_ = (next_region_ + 1) % regions_.size();
    return region;
  }

  Unwinder& unwinder_;
  RegisterSet registers_;
  StackSnapshot stack_;
  CodeMap& code_;
  std::array<CodeRegion, 4> regions_{};
  std::size_t next_region_ = 0;
  bool behind_call_ = false;
  bool interrupted_ = false;
  bool caller_has_no_frame_ = false;
  mutable UnwindEnd failure_ = UnwindEnd::kNoRule;
  mutable bool reads_below_stack_ = false;
  std::optional<std::uint64_t> substitute_;  // for what is read below the stack pointer
  std::uint32_t guessed_frames_ = 0;
};

std::string_view to_string(UnwindEnd end) {
  switch (end) {
    case UnwindEnd::kRoot:
      return "outermost frame";
    case UnwindEnd::kNoRule:
      return "code without unwind rules";
    case UnwindEnd::kSnapshotEnd:
      return "end of the copied stack";
    case UnwindEnd::kImplausible:
      return "frame that makes no sense";
    case UnwindEnd::kTooDeep:
      return "too many frames";
  }
  return "";
}

UnwoundStack Unwinder::unwind(const RegisterSet& registers, StackSnapshot stack, CodeMap& code) {
  return StackWalk(*this, registers, stack, code).run();
}

const UnwindRow* Unwinder::find_row(const UnwindTable& table, FileAddress pc) {
  const RuleKey key{&table, pc.value};
  if (const auto found = row_indices_.find(key); found != row_indices_.end()) {
    return found->second == kNoRow ? nullptr : &rows_[found->second];
  }
  if (row_indices_.size() >= kMaxCachedRows) {
    row_indices_.clear();
    rows_.clear();
  }
  const auto row = table.find(pc);
  row_indices_.emplace(key, row ? static_cast<std::uint32_t>(rows_.size()) : kNoRow);
  if (!row) return nullptr;
  rows_.push_back(*row);
  return &rows_.back();
}

}  // namespace nodescope
