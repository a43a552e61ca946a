#include "formats/perf_script/script_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/perf_script/frame_line.h"

namespace nodescope {

namespace {

constexpr std::size_t kExampleBytes = 120;

bool is_blank(std::string_view line) {
  return line.empty() || line == "\r";
}

// What `perf script --header` says about the recording, and what we call it.
struct FactName {
  std::string_view perf;
  std::string_view ours;
};
constexpr std::array kFactNames = {
    FactName{"cmdline", "recorded by"}, FactName{"hostname", "host"},
    FactName{"os release", "os"},       FactName{"perf version", "perf"},
    FactName{"arch", "arch"},           FactName{"cpudesc", "cpu"},
    FactName{"nrcpus online", "cpus"},  FactName{"captured on", "recorded"},
};

// The period of a software clock is time.
Unit unit_of_event(std::string_view event, bool has_period) {
  if (!has_period) return Unit::kSamples;
  const std::string_view name = event.substr(0, event.find(':'));
  return name == "cpu-clock" || name == "task-clock" ? Unit::kNanoseconds : Unit::kCount;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
  return text.substr(std::min(text.find_first_not_of(kSpaces), text.size()));
}

}  // namespace

Result<void> ScriptReader::read(SampleLines& lines, const SamplePart& part) {
  parts_.push_back({.index = part.index});
  for (;;) {
    const auto block = lines.next();
    if (!block) return std::unexpected(block.error());
    if (!*block) break;
    const std::size_t done = read_block(**block, lines.at_end());
    if (done < (*block)->size()) lines.keep_from((*block)->begin_of(done));
  }
  finish_sample();
  parts_.back().diagnostics.add(Severity::kError, "line longer than 64 MB left out", {},
                                lines.lines_left_out());
  return {};
}

// Returns the first line that has to be seen again together with what follows the block.
std::size_t ScriptReader::read_block(const LineBlock& block, bool at_end) {
  hashes_.set(block);
  for (std::size_t i = 0; i < block.size();) {
    const std::string_view line = block.line(i);
    if (is_blank(line)) {
      finish_sample();
    } else if (line[0] == '#') {
      read_comment(line);
    } else if (line[0] == '\t' || !read_other_line(line)) {
      // Its source line may be the next one.
      if (i + 1 == block.size() && !at_end) return i;
      i = read_frame(block, i);
      continue;
    }
    ++i;
  }
  return block.size();
}

// Returns the line after the frame.
std::size_t ScriptReader::read_frame(const LineBlock& block, std::size_t i) {
  std::string_view text = block.line(i);
  bool understood = false;
  const std::size_t next = i + 1;
  if (next < block.size() && is_source_line(block.line(next))) {
    text = {text.data(), block.text + block.ends[next]};
    understood = builder_.add(lines_, hashes_.of(text), text);
    i = next;
  } else {
    understood = builder_.add(lines_, hashes_.at(i, lines_), text);
  }
  if (!understood && !in_record_) warn("line not understood", text);
  if (understood && !open_) open_.emplace();
  return i + 1;
}

// False if the line can only be a frame's.
bool ScriptReader::read_other_line(std::string_view line) {
  const auto sample = parse_sample_line(line);
  if (!sample) return false;
  finish_sample();
  if (!is_record(*sample)) {
    open_sample(*sample);
    return true;
  }
  in_record_ = true;
  parts_.back().lost_samples += lost_in_record(*sample);
  return true;
}

void ScriptReader::read_comment(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = trim(line.substr(1, colon - 1));
  const auto known = std::ranges::find(kFactNames, name, &FactName::perf);
  if (known != kFactNames.end())
    parts_.back().facts.try_emplace(std::string(known->ours), trim(line.substr(colon + 1)));
}

void ScriptReader::open_sample(const SampleLine& line) {
  open_ =
      OpenSample{context_of(line), line.time_ns.value_or(0), line.period.value_or(1), {}, line.is_only_name};
  open_->rest = line.is_only_name ? line.source : line.rest;
}

void ScriptReader::finish_sample() {
  in_record_ = false;
  if (!open_) return;
  const OpenSample open = *std::exchange(open_, std::nullopt);
  if (builder_.is_empty()) {
    if (open.is_only_name) {
      warn("line not understood", open.rest);
      return;
    }
    // Without a call chain a sample is one line, its frame at the end.
    if (!open.rest.empty()) builder_.add(lines_, hashes_.of(open.rest), open.rest);
  }
  parts_.back().samples.push_back(
      {open.time_ns, open.weight, builder_.stack(builder_.finish(kEmptyStack)), open.context});
  if (lines_.is_full()) lines_.clear();
}

std::uint32_t ScriptReader::context_of(const SampleLine& line) {
  context_text_.assign(line.source).append(1, '\n').append(line.event).append(1, line.period ? '1' : '0');
  const auto known = context_ids_.find(std::string_view(context_text_));
  if (known != context_ids_.end()) return known->second;
  const SampleSource source = parse_sample_source(line.source);
  const Unit unit = unit_of_event(line.event, line.period.has_value());
  contexts_.push_back({tables_.strings.intern(source.comm), source.pid, source.tid, source.cpu,
                       tables_.strings.intern(line.event), unit});
  const auto id = static_cast<std::uint32_t>(contexts_.size() - 1);
  context_ids_.emplace(context_text_, id);
  return id;
}

std::optional<std::vector<FrameId>> ScriptReader::interpret(std::string_view text) {
  const auto frame = frame_of_lines(tables_, text);
  if (!frame) return std::nullopt;
  return std::vector{tables_.frames.intern(*frame)};
}

void ScriptReader::warn(std::string_view what, std::string_view line) {
  parts_.back().diagnostics.warn(what, line.substr(0, kExampleBytes));
}

}  // namespace nodescope
