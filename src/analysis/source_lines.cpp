#include "analysis/source_lines.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/call_tree.h"
#include "analysis/code_origin.h"
#include "analysis/group_totals.h"
#include "analysis/label_trie.h"
#include "base/check.h"
#include "base/flat_map.h"

namespace nodescope {

namespace {

std::uint64_t place_of(std::uint32_t line, std::uint32_t column) {
  return std::uint64_t{line} << 32 | column;
}

// What groups of frames have; group_of_frame is by FrameId, kNoGroup for none.
SelfAndTotal sum_groups(const Profile& profile, const std::vector<std::uint32_t>& group_of_frame,
                        std::size_t groups) {
  const std::size_t stacks = profile.stacks.size();
  std::vector<std::uint32_t> parents(stacks);
  std::vector<std::uint32_t> group_of(stacks, kNoGroup);
  for (std::size_t i = 1; i < stacks; ++i) {
    parents[i] = profile.stacks.caller(StackId{i}).value;
    group_of[i] = group_of_frame[profile.stacks.frame(StackId{i}).index()];
  }
  std::vector<std::uint64_t> self(stacks);
  std::uint64_t left = kMaxTotal;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    if (profile.samples.context(i).event != EventId{}) continue;
    const std::uint64_t weight = std::min(profile.samples.weight(i), left);
    left -= weight;
    self[profile.samples.stack(i).index()] += weight;
  }
  SelfAndTotal sums{std::vector<std::uint64_t>(groups), sum_group_totals(parents, group_of, self, groups)};
  for (std::size_t i = 1; i < stacks; ++i) {
    if (group_of[i] != kNoGroup) sums.self[group_of[i]] += self[i];
  }
  return sums;
}

}  // namespace

SourceFile derive_source(const Profile& profile, std::string_view file, SourceBy by) {
  SourceFile source;
  FlatMap<std::uint64_t, std::uint32_t> ids;
  std::vector<std::uint32_t> group_of_frame(profile.frames.size(), kNoGroup);
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    if (profile.text(frame.file) != file || file.empty()) continue;
    source.functions.push_back({std::string(profile.text(frame.function)), frame.begin_line()});
    const std::uint64_t place = place_of(frame.line, by == SourceBy::kColumn ? frame.column : 0);
    const auto [entry, added] = ids.try_emplace(place, static_cast<std::uint32_t>(source.lines.size()));
    if (added) source.lines.push_back({frame.line, frame.column, 0, 0});
    SourceLine& line = source.lines[entry->second];
    if (line.column != frame.column) line.column = 0;
    group_of_frame[i] = entry->second;
  }
  const SelfAndTotal sums = sum_groups(profile, group_of_frame, source.lines.size());
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    source.lines[i].self = sums.self[i];
    source.lines[i].total = sums.total[i];
  }
  std::erase_if(source.lines, [](const SourceLine& line) { return line.total == 0; });
  std::ranges::sort(source.lines, {},
                    [](const SourceLine& line) { return std::pair(line.line, line.column); });
  std::ranges::sort(source.functions, {}, [](const SourceFunction& function) {
    return std::pair(function.line, std::string_view(function.name));
  });
  const auto repeated = std::ranges::unique(source.functions);
  source.functions.erase(repeated.begin(), repeated.end());
  return source;
}

SelfAndTotal sum_places(const Profile& profile, std::string_view file, const std::vector<SourceLine>& places,
                        const std::vector<std::uint32_t>& group_of_place) {
  NODESCOPE_CHECK(places.size() == group_of_place.size());
  FlatMap<std::uint64_t, std::uint32_t> groups;
  std::size_t count = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    groups.emplace(place_of(places[i].line, places[i].column), group_of_place[i]);
    count = std::max<std::size_t>(count, std::size_t{group_of_place[i]} + 1);
  }
  std::vector<std::uint32_t> group_of_frame(profile.frames.size(), kNoGroup);
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    if (profile.text(frame.file) != file) continue;
    if (const auto group = groups.find(place_of(frame.line, frame.column)); group != groups.end())
      group_of_frame[i] = group->second;
  }
  return sum_groups(profile, group_of_frame, count);
}

std::vector<FileTotals> derive_files(const Profile& profile) {
  std::vector<FileTotals> files;
  FlatMap<std::uint64_t, std::uint32_t> ids;
  std::vector<std::uint32_t> group_of_frame(profile.frames.size(), kNoGroup);
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    const Origin origin = origin_of(profile, frame).origin;
    if ((origin != Origin::kOwn && origin != Origin::kPackage) || profile.text(frame.file).empty()) continue;
    const auto [entry, added] = ids.try_emplace(frame.file.value, static_cast<std::uint32_t>(files.size()));
    if (added) files.push_back({std::string(profile.text(frame.file)), 0, 0});
    group_of_frame[i] = entry->second;
  }
  const SelfAndTotal sums = sum_groups(profile, group_of_frame, files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i].self = sums.self[i];
    files[i].total = sums.total[i];
  }
  std::erase_if(files, [](const FileTotals& file) { return file.total == 0; });
  std::ranges::sort(files, [](const FileTotals& a, const FileTotals& b) {
    return std::tuple(b.self, b.total, std::string_view(a.path)) <
           std::tuple(a.self, a.total, std::string_view(b.path));
  });
  return files;
}

}  // namespace nodescope
