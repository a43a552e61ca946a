#include "support/profiles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/text.h"

namespace nodescope::testing {

namespace {

Frame frame_from_text(Profile& profile, std::string_view text) {
  Frame frame;
  frame.kind = FrameKind::kNative;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    if (const auto kind = frame_kind_of(text.substr(0, colon))) {
      frame.kind = *kind;
      text.remove_prefix(colon + 1);
    }
  }
  frame.function = profile.strings.intern(text);
  return frame;
}

std::string describe(const Profile& profile, const Frame& frame) {
  const std::string begin =
      frame.function_line == 0 ? "" : fmt::format("@{}:{}", frame.function_line, frame.function_column);
  return fmt::format("{}{}|{}:{}:{}|{}|{}|{}{}", profile.text(frame.function), begin,
                     profile.text(frame.file), frame.line, frame.column, profile.text(frame.module),
                     to_string(frame.kind), to_string(frame.tier), frame.inlined ? "|inlined" : "");
}

std::string describe(const Profile& profile, ThreadId id) {
  const Thread& thread = profile.thread(id);
  const Process& process = profile.process(thread.process);
  return fmt::format("{}({})/{}({})", process.pid, profile.text(process.name), thread.tid,
                     profile.text(thread.name));
}

template <typename FrameOf>
Profile profile_of_lines(std::string_view folded, FrameOf frame_of) {
  Profile profile;
  const EventId event = profile.intern_event("samples", Unit::kSamples);
  while (!folded.empty()) {
    const std::size_t end = std::min(folded.find('\n'), folded.size());
    std::string_view line = folded.substr(0, end);
    folded.remove_prefix(std::min(end + 1, folded.size()));
    if (line.empty()) continue;
    const std::size_t space = line.rfind(' ');
    const auto weight = parse_number<std::uint64_t>(line.substr(space + 1)).value();
    line = line.substr(0, space);
    StackId stack = kEmptyStack;
    while (!line.empty()) {
      const std::size_t stop = std::min(line.find(';'), line.size());
      stack = profile.stacks.push(stack, profile.frames.intern(frame_of(profile, line.substr(0, stop))));
      line.remove_prefix(std::min(stop + 1, line.size()));
    }
    profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, event}, weight});
  }
  return profile;
}

}  // namespace

Profile profile_of(std::string_view folded) {
  return profile_of_lines(folded, frame_from_text);
}

Profile plain_profile_of(std::string_view folded) {
  return profile_of_lines(folded, [](Profile& profile, std::string_view name) {
    Frame frame;
    frame.function = profile.strings.intern(name);
    return frame;
  });
}

Result<Profile> try_read_as(const Format& format, std::string_view text) {
  MemorySource source(text, fmt::format("test{}", format.extension));
  return format.read(source, {});
}

Profile read_as(const Format& format, std::string_view text) {
  auto profile = try_read_as(format, text);
  EXPECT_TRUE(profile.has_value()) << profile.error().message;
  return profile ? std::move(*profile) : Profile();
}

std::string write_as(const Format& format, const Profile& profile) {
  StringSink sink;
  EXPECT_TRUE(format.write(profile, {}, sink).has_value());
  return sink.text();
}

std::string to_text(const Profile& profile) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Sample sample = profile.samples[i];
    const Event& event = profile.event(sample.context.event);
    std::string line =
        fmt::format("sample {} {} cpu {} {} {} {}:", sample.time_ns, describe(profile, sample.context.thread),
                    sample.context.cpu, profile.text(event.name), to_string(event.unit), sample.weight);
    for (const FrameId frame : profile.stacks.unwind(sample.stack))
      line += " " + describe(profile, profile.frames[frame]);
    lines.push_back(line);
  }
  for (const Mapping& mapping : profile.mappings) {
    lines.push_back(fmt::format("mapping {} {:x}-{:x}+{:x} {} {}", profile.process(mapping.process).pid,
                                mapping.start, mapping.end, mapping.file_offset, profile.text(mapping.file),
                                profile.text(mapping.build_id)));
  }
  for (const Marker& marker : profile.markers) {
    lines.push_back(fmt::format("marker {}+{} {} {} {}", marker.time_ns, marker.duration_ns,
                                describe(profile, marker.thread), static_cast<int>(marker.kind),
                                profile.text(marker.name)));
  }
  lines.push_back(fmt::format("lost {}", profile.lost_samples));
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void read_every_prefix(const Format& format, std::string_view good, std::size_t step) {
  for (std::size_t size = 0; size <= good.size(); size += step) {
    // A copy of its own, so that AddressSanitizer sees a read past the end.
    const std::string prefix(good.substr(0, size));
    MemorySource source(prefix, "prefix");
    const auto profile = format.read(source, {});
    if (!profile) {
      EXPECT_FALSE(profile.error().message.empty());
    }
  }
}

std::string source_path(std::string_view path) {
  return std::string(NODESCOPE_SOURCE_DIR) + "/" + std::string(path);
}

std::string read_test_file(std::string_view path) {
  std::ifstream file(source_path(path), std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace nodescope::testing
