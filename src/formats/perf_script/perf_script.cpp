#include "formats/perf_script/perf_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/perf_script/frame_line.h"
#include "formats/perf_script/script_reader.h"
#include "formats/text_share.h"

namespace nodescope {

namespace {

// A stack line with something behind its address.
bool looks_like_frame(std::string_view line) {
  const auto frame = parse_frame_line(line);
  return frame && (!frame->symbol.empty() || !frame->module.empty());
}

// With `-F ip` alone: no sign of perf by itself, but none against it.
bool is_bare_address(std::string_view line) {
  return (line[0] == '\t' || line[0] == ' ') && parse_frame_line(line).has_value();
}

bool looks_like_sample(std::string_view line) {
  const auto sample = parse_sample_line(line);
  return sample && !sample->is_only_name && (sample->time_ns || !sample->event.empty());
}

bool recognise_perf_script(std::string_view head) {
  constexpr std::size_t kLines = 200;
  if (head.starts_with("# ========\n") && head.find("\n# cmdline : ") != std::string_view::npos) return true;
  std::size_t samples = 0;
  std::size_t frames = 0;
  std::size_t others = 0;
  bool any_as_perf_writes = false;
  for (std::size_t i = 0; i < kLines && !head.empty(); ++i) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 1, head.size()));
    if (line.find('\0') != std::string_view::npos) return false;
    if (line.empty() || line == "\r" || line[0] == '#') continue;
    if (line[0] != '\t' && looks_like_sample(line)) {
      ++samples;
    } else if (looks_like_frame(line)) {
      ++frames;
      any_as_perf_writes = any_as_perf_writes || line[0] == '\t' || line[0] == ' ' || line.contains('(');
    } else if (!is_bare_address(line) && !is_source_line(line)) {
      ++others;
    }
  }
  // A cut may leave but one line of a sample.  "a 5" could be an address and a symbol, but is folded text.
  return explains_nearly_all(samples + frames, others) &&
         (samples != 0 || (frames > 1 && any_as_perf_writes));
}

Result<Profile> read_perf_script(ByteSource& source, const ReadOptions& options) {
  const std::vector<SamplePart> parts = cut_into_parts(source, options.threads);
  std::vector<std::unique_ptr<ScriptReader>> readers;
  for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), std::max(options.threads, 1u)); ++i) {
    readers.push_back(std::make_unique<ScriptReader>());
  }
  const auto nothing_to_share = [] { return true; };
  if (const auto result = read_parts(source, options, parts, readers, nothing_to_share); !result) {
    return fail(result.error(), source.name());
  }
  Profile profile = build_profile(readers);
  if (profile.samples.size() == 0 && profile.facts.empty() && profile.lost_samples == 0) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("{}: no sample of perf script in it; make one with `perf script --header -F +pid`",
                    source.name()));
  }
  profile.facts.try_emplace("format", "perf script");
  return profile;
}

}  // namespace

const Format kPerfScriptFormat = {
    .name = "perf-script",
    .extension = "",
    .description = "the text of `perf script`",
    .recognise = recognise_perf_script,
    .read = read_perf_script,
    .write = nullptr,
};

}  // namespace nodescope
