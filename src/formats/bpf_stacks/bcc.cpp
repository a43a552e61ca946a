#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "base/text.h"
#include "formats/bpf_stacks/bpf_stacks.h"
#include "formats/bpf_stacks/stack_text.h"
#include "formats/text_share.h"
#include "model/waiting.h"

namespace nodescope {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kOwner = "-";      // "-                node (4711)"
constexpr std::string_view kBoundary = "--";  // between the kernel's frames and the program's
constexpr std::uint64_t kNsPerUs = 1000;

// The first line says what is counted.
bool counts_microseconds(std::string_view line) {
  return line.starts_with("Tracing ") && (line.contains("(us)") || line.contains("off-CPU time"));
}

bool is_head_line(std::string_view line) {
  constexpr std::array kStarts = {"Sampling at "sv, "Tracing "sv, "WARNING: "sv, "^C"sv};
  return std::ranges::any_of(kStarts, [&](std::string_view start) { return line.starts_with(start); });
}

bool is_indented(std::string_view line) {
  return line.starts_with("    ");
}

std::optional<std::uint64_t> parse_count(std::string_view line) {
  return is_indented(line) ? parse_number<std::uint64_t>(bpf::trim(line)) : std::nullopt;
}

struct Owner {
  std::string_view comm;
  std::int32_t pid = 0;
};

// "    -                node (4711)"
std::optional<Owner> parse_owner(std::string_view line) {
  if (!is_indented(line)) return std::nullopt;
  std::string_view text = bpf::trim(line);
  if (!text.starts_with(kOwner) || text.size() < 3 || text[1] != ' ' || !text.ends_with(')'))
    return std::nullopt;
  text = bpf::trim(text.substr(1));
  const std::size_t open = text.rfind('(');
  if (open == std::string_view::npos) return std::nullopt;
  const auto pid = parse_number<std::int32_t>(text.substr(open + 1, text.size() - open - 2));
  if (!pid) return std::nullopt;
  return Owner{bpf::trim(text.substr(0, open)), *pid};
}

class BccReader {
 public:
  explicit BccReader(const ReadOptions& options) : options_(options) {}

  Result<Profile> read(ByteSource& source) {
    LineReader lines(source, options_.progress);
    for (;;) {
      const auto block = lines.next();
      if (!block) return fail(block.error(), source.name());
      if (!*block) break;
      for (std::size_t i = 0; i < (*block)->size(); ++i) read_line((*block)->line(i));
    }
    if (profile_.samples.size() == 0) {
      return nodescope::fail(ErrorCode::kInvalidInput,
                             fmt::format("{}: no stack of bcc in it", source.name()));
    }
    return std::move(profile_);
  }

 private:
  void read_line(std::string_view line) {
    if (counts_microseconds(line)) in_microseconds_ = true;
    if (bpf::trim(line).empty()) return clear();
    if (!is_indented(line)) return;
    if (const auto owner = parse_owner(line)) {
      thread_ = bpf::thread_of(profile_, owner->comm, owner->pid);
      has_owner_ = true;
    } else if (const auto count = parse_count(line); count && has_owner_) {
      add(*count);
    } else if (bpf::trim(line) == kBoundary) {
      for (FrameId& frame : frames_) frame = profile_.frames.intern(as_kernel(profile_.frames[frame]));
    } else {
      frames_.push_back(profile_.frames.intern(bpf::frame_of_line(profile_, line)));
    }
  }

  static Frame as_kernel(Frame frame) {
    frame.kind = FrameKind::kKernel;
    return frame;
  }

  void add(std::uint64_t count) {
    const EventId event = in_microseconds_ ? profile_.intern_event(kOffCpuEvent, Unit::kNanoseconds)
                                           : profile_.intern_event("samples", Unit::kSamples);
    std::uint64_t weight = count;
    if (in_microseconds_ && __builtin_mul_overflow(count, kNsPerUs, &weight)) weight = UINT64_MAX;
    profile_.samples.add({0, bpf::stack_of(profile_, frames_), {thread_, kUnknownCpu, event}, weight});
    clear();
  }

  void clear() {
    frames_.clear();
    has_owner_ = false;
    thread_ = {};
  }

  const ReadOptions& options_;
  Profile profile_;
  bool in_microseconds_ = false;
  bool has_owner_ = false;
  ThreadId thread_;
  std::vector<FrameId> frames_;
};

bool recognise_bcc(std::string_view head) {
  std::size_t owners = 0;
  std::size_t counts = 0;
  std::size_t understood = 0;
  std::size_t others = 0;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.find('\0') != std::string_view::npos) return false;
    if (bpf::trim(line).empty()) continue;
    if (parse_owner(line)) ++owners;
    if (parse_count(line)) ++counts;
    ++(is_indented(line) || is_head_line(line) ? understood : others);
  }
  return owners != 0 && counts != 0 && explains_nearly_all(understood, others);
}

Result<Profile> read_bcc(ByteSource& source, const ReadOptions& options) {
  return BccReader(options).read(source);
}

}  // namespace

const Format kBccFormat = {
    .name = "bcc",
    .extension = "",
    .description = "stacks of bcc's profile and offcputime, not folded",
    .recognise = recognise_bcc,
    .read = read_bcc,
    .write = nullptr,
};

}  // namespace nodescope
