#include "analysis/labels.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <utility>

#include "base/path.h"
#include "model/name_marks.h"

namespace nodescope {

namespace {

// "node:internal/timers" is short already.
std::string_view short_file(std::string_view file) {
  return file.starts_with("node:") ? file : file_name_of(file);
}

// "/app/x.js:3:9", "x.js:3"; as much of it as is known.
std::string place_of(const Profile& profile, const Frame& frame, LabelStyle style) {
  const std::string_view file = profile.text(frame.file);
  std::string place(style == LabelStyle::kShort ? short_file(file) : file);
  const std::uint32_t line = frame.begin_line();
  const std::uint32_t column = frame.begin_column();
  if (line != 0) place += fmt::format(":{}", line);
  if (line != 0 && column != 0 && style != LabelStyle::kShort) place += fmt::format(":{}", column);
  return place;
}

std::string script_label(const Profile& profile, const Frame& frame, LabelStyle style) {
  const std::string_view function = profile.text(frame.function);
  std::string label(function.empty() ? "(anonymous)" : function);
  if (!profile.text(frame.file).empty()) label += " " + place_of(profile, frame, style);
  return label;
}

std::string nameless_label(std::string_view module, FrameKind kind) {
  const std::string_view name = file_name_of(module);
  if (name.empty()) return kind == FrameKind::kKernel ? "[kernel]" : "[unknown]";
  return name.starts_with('[') ? std::string(name) : fmt::format("[{}]", name);
}

LabelSource source_of(const Profile& profile, const Frame& frame) {
  if (frame.kind != FrameKind::kJs) return {};
  return {std::string(profile.text(frame.file)), frame.begin_line(), frame.begin_column()};
}

// As difffolded.pl: "0x" with digits becomes "0x...".
std::string without_hex(std::string_view text) {
  std::string stripped;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 2;
    if (text.substr(i, 2) == "0x") {
      while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    }
    if (end == i + 2) {
      stripped += text[i++];
    } else {
      stripped += "0x...";
      i = end;
    }
  }
  return stripped;
}

}  // namespace

std::string label_of(const Profile& profile, const Frame& frame, LabelStyle style) {
  if (frame.kind == FrameKind::kJs) return script_label(profile, frame, style);
  const std::string_view function = profile.text(frame.function);
  if (function.empty()) return nameless_label(profile.text(frame.module), frame.kind);
  // What a recording calls a regular expression whose source it could not find.
  constexpr std::string_view kNamelessRegExp = "[regexp]";
  if (frame.kind == FrameKind::kRegExp && function != kNamelessRegExp)
    return fmt::format("RegExp:{}", function);
  return std::string(function);
}

LabelParts label_parts_of(const Profile& profile, const Frame& frame) {
  const std::string_view function = profile.text(frame.function);
  if (frame.kind != FrameKind::kJs) {
    const std::string_view module = file_name_of(profile.text(frame.module));
    return {label_of(profile, frame), std::string(function.empty() ? "" : module)};
  }
  LabelParts parts;
  parts.name = function.empty() ? "(anonymous)" : function;
  if (!profile.text(frame.file).empty()) parts.place = place_of(profile, frame, LabelStyle::kFull);
  return parts;
}

std::string_view text_of(NameMark mark) {
  constexpr std::array<std::string_view, kNameMarkCount> kTexts = {"", kJitMark, kInlinedMark, kKernelMark};
  return kTexts[static_cast<std::size_t>(mark)];
}

NameMark name_mark_of(const Profile& profile, const Frame& frame) {
  if (profile.text(frame.module) == kJitModule) return NameMark::kJit;
  if (frame.kind == FrameKind::kKernel && frame.module == StringId{}) return NameMark::kKernel;
  return frame.inlined ? NameMark::kInlined : NameMark::kNone;
}

LabelTable::LabelTable(LabelOptions options) : options_(options) {
  add_name("");
}

std::vector<LabelId> LabelTable::add_frames(const Profile& profile) {
  std::vector<LabelId> labels(profile.frames.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    std::string text =
        options_.name != nullptr ? options_.name(profile, frame) : label_of(profile, frame, options_.style);
    if (options_.strip_hex) text = without_hex(text);
    Label label;
    label.origin = origin_of(profile, frame).origin;
    label.kind = shown_kind(profile, frame);
    if (!options_.merge_tiers) label.tier = frame.tier;
    labels[i] = add(label, text,
                    [&] { return std::pair(label_parts_of(profile, frame), source_of(profile, frame)); });
  }
  return labels;
}

LabelId LabelTable::add_name(std::string_view text) {
  Label label;
  label.is_name = true;
  return add(label, text, [&] { return std::pair(LabelParts{std::string(text), {}}, LabelSource()); });
}

LabelId LabelTable::add_copy(LabelId id) {
  const LabelId copy{labels_.size()};
  labels_.push_back(labels_[id.index()]);
  parts_.push_back(parts_[id.index()]);
  sources_.push_back(sources_[id.index()]);
  return copy;
}

template <typename Describe>
LabelId LabelTable::add(Label label, std::string_view text, const Describe& describe) {
  label.text = strings_.intern(text);
  const std::uint64_t key = std::uint64_t{label.text.value} << 32 | std::uint64_t{label.is_name} << 24 |
                            static_cast<std::uint64_t>(label.kind) << 16 |
                            static_cast<std::uint64_t>(label.origin) << 8 |
                            static_cast<std::uint64_t>(label.tier);
  const auto [entry, added] = ids_.try_emplace(key, LabelId{labels_.size()});
  if (added) {
    labels_.push_back(label);
    auto [parts, source] = describe();
    parts_.push_back(std::move(parts));
    sources_.push_back(std::move(source));
  }
  return entry->second;
}

}  // namespace nodescope
