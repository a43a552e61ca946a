#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/line_reader.h"
#include "base/text.h"
#include "formats/bpf_stacks/bpf_stacks.h"
#include "formats/bpf_stacks/stack_text.h"
#include "formats/text_share.h"

namespace nodescope {

namespace {

constexpr std::size_t kExampleBytes = 120;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "@name[rest": where the '[' is.
std::optional<std::size_t> find_key(std::string_view line) {
  if (!line.starts_with('@')) return std::nullopt;
  std::size_t i = 1;
  while (i < line.size() && is_name_character(line[i])) ++i;
  if (i == line.size() || line[i] != '[') return std::nullopt;
  return i;
}

struct End {
  std::string_view keys;  // in front of the ']'
  std::uint64_t value = 0;
};

// ", node, 4711]: 12"
std::optional<End> parse_end(std::string_view line) {
  const std::size_t bracket = line.rfind("]: ");
  if (bracket == std::string_view::npos) return std::nullopt;
  const auto value = parse_number<std::uint64_t>(bpf::trim(line.substr(bracket + 3)));
  if (!value) return std::nullopt;
  return End{line.substr(0, bracket), *value};
}

bool is_frame(std::string_view line) {
  return !line.empty() && (line[0] == ' ' || line[0] == '\t') && !bpf::trim(line).empty();
}

// A key that is split over lines: ", " between two stacks.
bool is_separator(std::string_view line) {
  return bpf::trim(line).empty() || bpf::trim(line) == ",";
}

class BpftraceReader {
 public:
  explicit BpftraceReader(const ReadOptions& options) : options_(options) {}

  Result<Profile> read(ByteSource& source) {
    LineReader lines(source, options_.progress);
    for (;;) {
      const auto block = lines.next();
      if (!block) return fail(block.error(), source.name());
      if (!*block) break;
      for (std::size_t i = 0; i < (*block)->size(); ++i) read_line((*block)->line(i));
    }
    if (is_open_) profile_.diagnostics.warn("the last stack has no count: cut");
    if (profile_.samples.size() == 0) {
      return nodescope::fail(ErrorCode::kInvalidInput,
                             fmt::format("{}: no map of bpftrace with a stack in it", source.name()));
    }
    return std::move(profile_);
  }

 private:
  void read_line(std::string_view line) {
    if (const auto key = find_key(line)) {
      open(line.substr(1, *key - 1));
      line.remove_prefix(*key + 1);
    }
    if (!is_open_) return;
    if (const auto end = parse_end(line)) {
      add_keys(end->keys);
      close(end->value);
    } else if (is_frame(line)) {
      frames_.push_back(profile_.frames.intern(bpf::frame_of_line(profile_, line)));
    } else if (line.find(']') != std::string_view::npos) {
      is_open_ = false;
      profile_.diagnostics.warn("values that are no counts are left out", line.substr(0, kExampleBytes));
    } else {
      add_keys(line);
    }
  }

  void open(std::string_view name) {
    if (is_open_) profile_.diagnostics.warn("a stack without a count is left out");
    event_ = name.empty() ? "samples" : std::string(name);
    frames_.clear();
    comm_.clear();
    pid_ = 0;
    is_open_ = true;
  }

  // Of the keys beside stacks numbers are taken for the process, other texts for its name.
  void add_keys(std::string_view text) {
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      const std::string_view key = bpf::trim(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
      if (key.empty()) continue;
      if (const auto number = parse_number<std::int32_t>(key)) {
        if (pid_ == 0) pid_ = *number;
      } else if (comm_.empty()) {
        comm_ = key;
      }
    }
  }

  void close(std::uint64_t value) {
    is_open_ = false;
    if (frames_.empty() && comm_.empty()) return;  // a map without stacks
    const ThreadId thread = bpf::thread_of(profile_, comm_, pid_);
    const EventId event = profile_.intern_event(event_, Unit::kSamples);
    profile_.samples.add({0, bpf::stack_of(profile_, frames_), {thread, kUnknownCpu, event}, value});
  }

  const ReadOptions& options_;
  Profile profile_;
  bool is_open_ = false;
  std::string event_;
  std::vector<FrameId> frames_;
  std::string comm_;
  std::int32_t pid_ = 0;
};

bool is_head_line(std::string_view line) {
  return line.starts_with("Attaching ") || line.starts_with("^C") || line.starts_with("Attached ");
}

bool recognise_bpftrace(std::string_view head) {
  std::size_t understood = 0;
  std::size_t others = 0;
  bool any_end = false;
  bool any_frame = false;
  bool any_key = false;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.find('\0') != std::string_view::npos) return false;
    if (is_separator(line)) continue;
    const bool ends = parse_end(line).has_value();
    any_end = any_end || ends;
    any_frame = any_frame || is_frame(line);
    any_key = any_key || find_key(line).has_value();
    ++(ends || is_frame(line) || find_key(line) || is_head_line(line) ? understood : others);
  }
  return any_key && any_end && any_frame && explains_nearly_all(understood, others);
}

Result<Profile> read_bpftrace(ByteSource& source, const ReadOptions& options) {
  return BpftraceReader(options).read(source);
}

}  // namespace

const Format kBpftraceFormat = {
    .name = "bpftrace",
    .extension = "",
    .description = "maps of bpftrace with stacks in their keys",
    .recognise = recognise_bpftrace,
    .read = read_bpftrace,
    .write = nullptr,
};

}  // namespace nodescope
