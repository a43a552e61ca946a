#include "analysis/function_match.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "analysis/file_match.h"
#include "analysis/place_match.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::string_view kAnonymous = "(anonymous)";

// What a label says about a function.
struct Named {
  LabelId label;
  std::string_view name;
  std::string_view file;
  Place place;
  FrameKind kind = FrameKind::kUnknown;
  bool is_name = false;
};

std::optional<std::uint32_t> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto number = parse_number<std::uint32_t>(text.substr(colon + 1));
  if (number) text = text.substr(0, colon);
  return number;
}

// "parseRows /app/rows.js:3:19" or "parseRows (/app/rows.js:3:19)", as several tools write it into folded
// text.
void take_place(Named& function) {
  constexpr std::array<std::string_view, 8> kStarts = {
      " /", " (/", " node:", " (node:", " file:", " (file:", " http:/", " https:/"};
  std::string_view text = function.name;
  std::size_t space = std::string_view::npos;
  for (const std::string_view start : kStarts) {
    const std::size_t found = text.rfind(start);
    if (found != std::string_view::npos && (space == std::string_view::npos || found > space)) space = found;
  }
  if (space == std::string_view::npos) return;
  std::string_view place = text.substr(space + 1);
  if (place.starts_with('(') && place.ends_with(')')) place = place.substr(1, place.size() - 2);
  const auto last = take_number(place);
  const auto first = last ? take_number(place) : std::nullopt;
  if (!last) return;
  function.name = space == 0 ? kAnonymous : text.substr(0, space);
  function.file = place;
  function.place = {first.value_or(*last), first ? *last : 0};
}

// Node called its main thread "node" up to version 22, and "MainThread" since.
std::string_view thread_name(std::string_view name) {
  return name == "MainThread" || name == "node-MainThread" ? "node" : name;
}

Named named_of(const LabelTable& labels, LabelId id) {
  const Label& label = labels[id];
  Named named;
  named.label = id;
  named.kind = label.kind;
  named.is_name = label.is_name;
  named.name = labels.text(id);
  if (label.is_name) {
    named.name = thread_name(named.name);
  } else if (label.kind == FrameKind::kJs) {
    const LabelSource& source = labels.source(id);
    named.name = labels.parts(id).name;
    named.file = source.file;
    named.place = {source.line, source.column};
  } else if (label.kind == FrameKind::kUnknown) {
    take_place(named);
  }
  return named;
}

bool may_be_same(const Named& a, const Named& b) {
  if (a.kind == FrameKind::kUnknown && !a.is_name) return !b.is_name || a.file.empty();
  if (b.kind == FrameKind::kUnknown && !b.is_name) return !a.is_name || b.file.empty();
  return a.kind == b.kind && a.is_name == b.is_name;
}

// Functions of one name and tier, by side.
struct Namesakes {
  std::vector<Named> before;
  std::vector<Named> after;
};

bool by_place(const Named& a, const Named& b) {
  return std::pair(a.place, a.label.value) < std::pair(b.place, b.label.value);
}

std::vector<Place> places_of(const std::vector<Named>& functions) {
  std::vector<Place> places;
  for (const Named& function : functions) places.push_back(function.place);
  return places;
}

// What labels of one side are called in the comparison.
struct Matched {
  std::vector<LabelId> names;
  std::vector<bool> matched;

  explicit Matched(std::size_t size) : matched(size) {
    for (std::size_t i = 0; i < size; ++i) names.emplace_back(i);
  }
  bool has(const Named& function) const { return matched[function.label.index()]; }
  void set(LabelId label, LabelId name) {
    names[label.index()] = name;
    matched[label.index()] = true;
  }
};

class FunctionMatcher {
 public:
  FunctionMatcher(LabelTable& labels, const std::vector<bool>& in_before, const std::vector<bool>& in_after)
      : labels_(labels), in_before_(in_before), before_(labels.size()), after_(labels.size()) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (i == 0) continue;  // the root
      const Named named = named_of(labels, LabelId{i});
      Namesakes& group = groups_[{named.name, labels[LabelId{i}].tier}];
      if (in_before[i]) group.before.push_back(named);
      if (in_after[i]) group.after.push_back(named);
    }
  }

  FunctionMatch run() {
    match_all_files();
    find_landmarks();
    for (auto& [key, group] : groups_) {
      if (group.before.empty() || group.after.empty()) continue;
      match_in_files(group);
      match_without_file(group);
      match_alone(group);
      unite_namesakes(group.before, before_, group.after, after_);
      unite_namesakes(group.after, after_, group.before, before_);
    }
    tell_apart();
    return {std::move(before_.names), std::move(after_.names)};
  }

 private:
  struct GroupKey {
    std::string_view name;
    JsTier tier = JsTier::kNone;

    bool operator==(const GroupKey&) const = default;
  };
  struct GroupHash {
    using is_avalanching = void;
    std::uint64_t operator()(const GroupKey& key) const {
      return hash_bytes(key.name) + static_cast<std::uint64_t>(key.tier);
    }
  };

  void match_all_files() {
    std::vector<std::string_view> before;
    std::vector<std::string_view> after;
    for (const auto& [key, group] : groups_) {
      for (const Named& function : group.before) before.push_back(function.file);
      for (const Named& function : group.after) after.push_back(function.file);
    }
    files_ = match_files(before, after);
    for (const auto& [from, to] : files_) files_after_.insert(to);
  }

  // By file of the second side.
  FlatMap<std::string_view, Namesakes> by_file(const Namesakes& group) const {
    FlatMap<std::string_view, Namesakes> files;
    for (const Named& function : group.before) {
      if (const auto file = files_.find(function.file); file != files_.end())
        files[file->second].before.push_back(function);
    }
    for (const Named& function : group.after) {
      if (!function.file.empty()) files[function.file].after.push_back(function);
    }
    for (auto& [file, functions] : files) {
      std::ranges::sort(functions.before, by_place);
      std::ranges::sort(functions.after, by_place);
    }
    return files;
  }

  // A name that a file has once in both versions is the same function wherever it stands.
  void find_landmarks() {
    FlatMap<std::string_view, std::vector<std::pair<Place, Place>>> known;
    for (const auto& [key, group] : groups_) {
      if (key.name == kAnonymous || group.before.empty() || group.after.empty()) continue;
      for (const auto& [file, functions] : by_file(group)) {
        if (functions.before.size() != 1 || functions.after.size() != 1) continue;
        known[file].emplace_back(functions.before.front().place, functions.after.front().place);
      }
    }
    for (auto& [file, places] : known) landmarks_[file] = FileLandmarks(std::move(places));
  }

  void match_in_files(const Namesakes& group) {
    for (const auto& [file, functions] : by_file(group)) {
      if (functions.before.empty() || functions.after.empty()) continue;
      const std::vector<Place> before = places_of(functions.before);
      const std::vector<Place> after = places_of(functions.after);
      const auto found = landmarks_.find(file);
      FileLandmarks landmarks = found == landmarks_.end() ? FileLandmarks() : found->second;
      if (landmarks.empty()) landmarks = landmarks_of_shift(before, after);
      for (const auto& [i, j] : match_places(before, after, landmarks))
        add(functions.before[i], functions.after[j]);
      // A function with a name may have been moved past others.
      if (functions.before.front().name != kAnonymous) match_rest(functions);
    }
  }

  static FileLandmarks landmarks_of_shift(std::span<const Place> before, std::span<const Place> after) {
    const auto shift = likely_line_shift(before, after);
    if (!shift) return {};
    const auto from = static_cast<std::uint32_t>(std::max<std::int64_t>(0, -*shift));
    return FileLandmarks({{Place{from, 0}, Place{static_cast<std::uint32_t>(from + *shift), 0}}});
  }

  // What is still without a partner, in order.
  void match_rest(const Namesakes& functions) {
    const std::vector<Named> before = unmatched(functions.before, before_);
    const std::vector<Named> after = unmatched(functions.after, after_);
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) add(before[i], after[i]);
  }

  // Code without a file matches by kind.
  void match_without_file(const Namesakes& group) {
    for (const bool exactly : {true, false}) {
      for (const Named& function : group.before) {
        if (!function.file.empty() || before_.has(function)) continue;
        const auto partner = std::ranges::find_if(group.after, [&](const Named& other) {
          if (!other.file.empty() || after_.has(other)) return false;
          return exactly ? other.label == function.label : may_be_same(function, other);
        });
        if (partner != group.after.end()) add(function, *partner);
      }
    }
  }

  // A file that was renamed, or split.
  void match_alone(const Namesakes& group) {
    const std::vector<Named> before = unmatched(group.before, before_);
    const std::vector<Named> after = unmatched(group.after, after_);
    if (before.size() != 1 || after.size() != 1 || before.front().name == kAnonymous) return;
    const Named& from = before.front();
    const Named& to = after.front();
    const bool own = origin(from) == Origin::kOwn && origin(to) == Origin::kOwn;
    const bool files_are_alone = !from.file.empty() && !to.file.empty() && !files_.contains(from.file) &&
                                 !files_after_.contains(to.file);
    if (own && files_are_alone) add(from, to);
  }

  // Plain text that has only names stands for all functions of its name on the other side, `others`.
  static void unite_namesakes(const std::vector<Named>& texts, Matched& text_side,
                              const std::vector<Named>& others, Matched& other_side) {
    const auto text = std::ranges::find_if(texts, [](const Named& function) {
      return function.kind == FrameKind::kUnknown && function.file.empty() && !function.is_name;
    });
    if (text == texts.end()) return;
    std::vector<LabelId> united;
    for (const Named& other : others) {
      if (!other.file.empty() && !other_side.has(other)) united.push_back(other.label);
    }
    // One function is called as it is there; several by the name that they share.
    if (united.size() == 1 && !text_side.has(*text)) {
      text_side.set(text->label, united.front());
      other_side.set(united.front(), united.front());
      return;
    }
    const LabelId shared = text_side.names[text->label.index()];
    for (const LabelId label : united) other_side.set(label, shared);
    if (!united.empty()) text_side.set(text->label, shared);
  }

  void add(const Named& before, const Named& after) {
    const bool before_says_more = after.kind == FrameKind::kUnknown && before.kind != FrameKind::kUnknown;
    const LabelId shared = before_says_more ? before.label : after.label;
    before_.set(before.label, shared);
    after_.set(after.label, shared);
  }

  static std::vector<Named> unmatched(const std::vector<Named>& functions, const Matched& side) {
    std::vector<Named> rest;
    std::ranges::copy_if(functions, std::back_inserter(rest),
                         [&](const Named& function) { return !side.has(function); });
    return rest;
  }

  Origin origin(const Named& function) const { return labels_[function.label].origin; }

  // A label that stands for one function before and, lines having moved, for another one after.
  void tell_apart() {
    for (std::size_t i = 1; i < before_.names.size(); ++i) {
      if (in_before_[i] && !before_.matched[i] && after_.matched[i] && after_.names[i] == LabelId{i})
        before_.names[i] = labels_.add_copy(LabelId{i});
    }
  }

  LabelTable& labels_;
  const std::vector<bool>& in_before_;
  Matched before_;
  Matched after_;
  FlatMap<GroupKey, Namesakes, GroupHash> groups_;
  FileMatch files_;
  FlatSet<std::string_view> files_after_;
  FlatMap<std::string_view, FileLandmarks> landmarks_;
};

}  // namespace

FunctionMatch match_functions(LabelTable& labels, const std::vector<bool>& in_before,
                              const std::vector<bool>& in_after) {
  return FunctionMatcher(labels, in_before, in_after).run();
}

}  // namespace nodescope
