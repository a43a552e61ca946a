#include "formats/v8_log/read_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/line_reader.h"
#include "base/text.h"
#include "formats/symbol_name.h"
#include "formats/v8_log/code_map.h"
#include "formats/v8_log/log_line.h"
#include "formats/v8_log/native_code.h"
#include "formats/v8_log/vm_state.h"

namespace nodescope::v8_log {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kExampleBytes = 120;
constexpr std::string_view kMalformed = "line not understood";

bool is_javascript(std::string_view type) {
  constexpr std::array kTypes = {"JS"sv, "LazyCompile"sv, "Function"sv, "Script"sv, "Eval"sv};
  return std::ranges::find(kTypes, type) != kTypes.end();
}

// "~", "^", "+", "*", "*'", "o+"; other versions may have other marks.
std::string_view tier_mark(std::string_view state) {
  constexpr std::size_t kLongestMark = 3;
  return state.size() <= kLongestMark ? state : std::string_view();
}

class LogReader {
 public:
  LogReader(ByteSource& source, const ReadOptions& options)
      : source_(source), lines_(source, options.progress), native_(profile_, options) {}

  Result<Profile> read() {
    for (;;) {
      const auto block = lines_.next();
      if (!block) return fail(block.error(), source_.name());
      if (!*block) break;
      for (std::size_t i = 0; i < (*block)->size(); ++i) read_line((*block)->line(i));
    }
    profile_.diagnostics.add(Severity::kError, "line longer than 64 MB left out", {},
                             lines_.lines_left_out());
    if (profile_.samples.size() == 0) {
      return nodescope::fail(
          ErrorCode::kInvalidInput,
          fmt::format("{}: a log of V8 without ticks: node --prof writes them", source_.name()));
    }
    return std::move(profile_);
  }

 private:
  void read_line(std::string_view line) {
    line_.parse(line);
    const std::string_view command = line_[0];
    if (command == "tick") {
      check(read_tick(), line);
    } else if (command == "code-creation") {
      check(read_code_creation(), line);
    } else if (command == "code-move") {
      check(read_code_move(), line);
    } else if (command == "code-delete") {
      if (const auto begin = line_.number(1)) codes_.remove(*begin);
    } else if (command == "shared-library") {
      check(read_library(), line);
    } else if (command == "v8-version") {
      read_version();
    } else if (command == "profiler" && line_[1] == "begin") {
      if (const auto interval = line_.number(2))
        profile_.facts["period"] = fmt::format("{} µs", with_thousands(*interval));
    }
  }

  void check(bool understood, std::string_view line) {
    if (!understood) profile_.diagnostics.warn(kMalformed, line.substr(0, kExampleBytes));
  }

  // "v8-version,12,4,254,21,-node.57,0": the last number is for a candidate of a release.
  void read_version() {
    const std::uint64_t major = line_.number(1).value_or(0);
    const std::uint64_t minor = line_.number(2).value_or(0);
    is_old_ = major < 6 || (major == 6 && minor < 3);
    if (line_.size() < 5) return;
    profile_.facts["v8"] = fmt::format("{}.{}.{}.{}{}", line_.text(1), line_.text(2), line_.text(3),
                                       line_.text(4), line_[5].starts_with('-') ? line_.text(5) : "");
  }

  bool read_library() {
    const auto begin = line_.number(2);
    const auto end = line_.number(3);
    if (!begin || !end) return false;
    native_.add_library(line_.text(1), *begin, *end, !line_[1].starts_with('"'));
    return true;
  }

  // "code-creation,JS,10,37639,0x7f3f0e7c3040,2576,normalizeString node:path:93:25,0x272066e8ce10,^"; before
  // V8 5.9 there was no time in front of the address.
  bool read_code_creation() {
    const std::size_t address = line_[3].starts_with("0x") ? 3 : 4;
    const auto begin = line_.number(address);
    const auto size = line_.number(address + 1);
    if (!begin || !size || line_.size() < address + 3) return false;
    const std::string_view type = line_[1];
    const std::string name = line_.text(address + 2);
    // Node 8 names a builtin, and logs it once more for a function without a name.
    if (name.empty() && line_[address + 4].empty() && codes_.find(*begin)) return true;
    const std::string symbol = is_javascript(type)
                                   ? fmt::format("JS:{}{}", tier_mark(line_[address + 4]), name)
                                   : fmt::format("{}:{}", type, name);
    codes_.add(*begin, *size, profile_.frames.intern(frame_of_symbol(profile_, to_valid_utf8(symbol), {})));
    return true;
  }

  bool read_code_move() {
    const auto from = line_.number(1);
    const auto to = line_.number(2);
    if (from && to) codes_.move(*from, *to);
    return from && to;
  }

  // "tick,PC,TIME,IN_EXTERNAL_CALLBACK,TOP_OF_STACK_OR_CALLBACK,STATE,FRAME…"
  bool read_tick() {
    const auto pc = line_.number(1);
    const auto time = line_.number(2);
    const auto top = line_.number(4);
    const auto state = line_.number(5);
    if (!pc || !time || !top || !state) return false;
    read_addresses(*pc);
    StackId stack = kEmptyStack;
    for (auto address = addresses_.rbegin(); address != addresses_.rend(); ++address) {
      stack = profile_.stacks.push(stack, caller_at(*address));
    }
    const FrameId innermost = frame_at(*pc);
    if (line_[3] == "1") {
      // Which function of the embedder V8 had called is known, and where in it, or below, the processor was.
      const FrameId callback = frame_at(*top);
      if (callback != innermost) stack = profile_.stacks.push(stack, callback);
    } else if (const auto caller = *top == 0 ? std::nullopt : codes_.find(*top);
               caller && profile_.frames[*caller].kind == FrameKind::kJs) {
      stack = profile_.stacks.push(stack, *caller);  // what runs has not made its frame yet
    }
    if (const auto work = frame_of_vm_state(profile_, *state, is_old_))
      stack = profile_.stacks.push(stack, *work);
    stack = profile_.stacks.push(stack, innermost);
    constexpr std::uint64_t kMaxTime = std::numeric_limits<std::int64_t>::max() / 1000;
    const auto time_ns = static_cast<std::int64_t>(std::min(*time, kMaxTime)) * 1000;
    if (!context_) {
      context_ =
          profile_.samples.intern({ThreadId{}, kUnknownCpu, profile_.intern_event("ticks", Unit::kSamples)});
    }
    profile_.samples.add(time_ns, stack, *context_, 1);
    return true;
  }

  // Innermost first.  "+1f" and "-1f" are distances from the frame before.
  void read_addresses(std::uint64_t previous) {
    addresses_.clear();
    for (std::size_t i = 6; i < line_.size(); ++i) {
      const std::string_view field = line_[i];
      if (field == "overflow") {
        profile_.diagnostics.info("stacks deeper than V8 logs are cut");
        continue;
      }
      const bool is_distance = field.starts_with('+') || field.starts_with('-');
      const auto number = is_distance ? parse_hex(field.substr(field.substr(1).starts_with("0x") ? 3 : 1))
                                      : parse_log_number(field);
      if (!number) {
        profile_.diagnostics.warn("frame of a tick not understood", field.substr(0, kExampleBytes));
        continue;
      }
      previous = !is_distance ? *number : field[0] == '+' ? previous + *number : previous - *number;
      addresses_.push_back(previous);
    }
  }

  FrameId frame_at(std::uint64_t address) {
    if (const auto code = codes_.find(address)) return *code;
    if (const auto native = native_.find(address)) return *native;
    return profile_.frames.intern(Frame{});
  }

  // The address behind a call; in bytecode, that of the call itself.
  FrameId caller_at(std::uint64_t address) {
    if (const auto code = codes_.find(address)) return *code;
    return frame_at(address - 1);
  }

  ByteSource& source_;
  LineReader lines_;
  LogLine line_;
  Profile profile_;
  CodeMap codes_;
  NativeCode native_;
  std::vector<std::uint64_t> addresses_;
  std::optional<ContextId> context_;
  bool is_old_ = false;
};

}  // namespace

Result<Profile> read_log(ByteSource& source, const ReadOptions& options) {
  return LogReader(source, options).read();
}

}  // namespace nodescope::v8_log
