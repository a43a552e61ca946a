#include "analysis/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/function_match.h"
#include "analysis/group_totals.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::size_t kFlushBytes = 1024 * 1024;

std::uint64_t sum_of(const std::vector<std::uint64_t>& values) {
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values) sum += value;
  return sum;
}

// value * numerator / denominator, rounded down as difffolded.pl does.
std::uint64_t scale(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator) {
  __extension__ using Wide = unsigned __int128;
  const Wide scaled = Wide{value} * numerator / denominator;
  return static_cast<std::uint64_t>(std::min<Wide>(scaled, kMaxTotal));
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

void append_frame(std::string& line, std::string_view name) {
  const std::size_t begin = line.size();
  line += name;
  for (std::size_t i = begin; i < line.size(); ++i) {
    if (line[i] == ';') line[i] = ':';
    if (line[i] == '\n' || line[i] == '\r') line[i] = ' ';
  }
}

std::string describe(const OneSided& stacks, std::uint64_t whole) {
  return fmt::format(
      "{} stack{}, {:.2f}%", with_thousands(stacks.stacks), stacks.stacks == 1 ? "" : "s",
      whole == 0 ? 0.0 : 100.0 * static_cast<double>(stacks.weight) / static_cast<double>(whole));
}

// What the stacks that have samples take as text.
double folded_bytes(const LabelTrie& trie, const LabelTable& labels) {
  std::vector<double> path_bytes(trie.size(), 0);
  double bytes = 0;
  for (std::size_t i = 1; i < trie.size(); ++i) {
    path_bytes[i] = path_bytes[trie.parents[i]] + 1 + static_cast<double>(labels.text(trie.labels[i]).size());
    if (trie.self[i] > 0) bytes += path_bytes[i];
  }
  return bytes;
}

bool is_own(const Label& label) {
  return label.origin == Origin::kOwn && !label.is_name;
}

// How far in front a function stands: own code by what it and everything but other own code that it calls
// gained or lost, if that is more than noise; then all code, what is not own by its self.
struct Rank {
  bool own_and_large = false;
  std::uint64_t change = 0;
  bool grew = false;
  std::uint64_t total = 0;

  auto operator<=>(const Rank&) const = default;
};

Rank rank_of(const DiffFunction& f, std::uint64_t whole) {
  constexpr std::uint64_t kLargePercent = 1;
  const bool own = f.origin == Origin::kOwn && !f.is_name;
  Rank rank;
  rank.change = distance(f.before_self, f.after_self);
  rank.grew = f.after_self > f.before_self;
  if (own) {
    rank.change = distance(f.before_own, f.after_own);
    rank.grew = f.after_own > f.before_own;
    rank.own_and_large = rank.change != 0 && rank.change >= whole / 100 * kLargePercent;
  }
  rank.total = distance(f.before_total, f.after_total);
  return rank;
}

}  // namespace

class DiffBuilder {
 public:
  explicit DiffBuilder(const DiffOptions& options) : options_(options), merger_(options.collapse_recursion) {
    diff_.labels_ = std::make_shared<LabelTable>(options.labels);
  }

  Diff build(const Profile& before, const Profile& after) {
    SampledTrie old_trie = sample(before, options_.before_event);
    SampledTrie new_trie = sample(after, options_.after_event);
    match(old_trie.trie, new_trie.trie);
    const std::vector<std::uint64_t> before_self = add(old_trie.trie);
    const std::vector<std::uint64_t> after_self = add(new_trie.trie);
    diff_.trie_ = merger_.take();
    diff_.trie_.before_self = before_self;
    diff_.trie_.before_self.resize(diff_.trie_.size(), 0);
    diff_.trie_.after_self = after_self;
    diff_.before_unscaled_ = sum_of(before_self);
    scale_before(sum_of(after_self));
    compare_sides();
    diff_.unit_ = unit_of_side(after, options_.after_event);
    if (options_.after_event.index() < after.events().size())
      diff_.event_ = after.text(after.event(options_.after_event).name);
    const Unit before_unit = unit_of_side(before, options_.before_event);
    if (before_unit != diff_.unit_ && !options_.normalise) {
      diff_.diagnostics_.warn("units differ: only shares can be compared, with --normalize",
                              fmt::format("{} and {}", to_string(before_unit), to_string(diff_.unit_)));
    }
    return std::move(diff_);
  }

 private:
  Unit unit_of_side(const Profile& profile, EventId event) const {
    const bool has_event = event.index() < profile.events().size();
    return options_.count == CountBy::kSamples || !has_event ? Unit::kSamples : profile.event(event).unit;
  }

  SampledTrie sample(const Profile& profile, EventId event) {
    return build_label_trie(profile, {event, options_.count, options_.root, false}, *diff_.labels_,
                            diff_.diagnostics_);
  }

  // Calls functions that are the same on both sides by one label.
  void match(LabelTrie& before, LabelTrie& after) {
    const FunctionMatch found = match_functions(*diff_.labels_, labels_in(before), labels_in(after));
    diff_.before_names_.resize(diff_.labels_->size());
    for (LabelId& label : before.labels) {
      const LabelId name = found.before[label.index()];
      diff_.before_names_[name.index()] = label;
      label = name;
    }
    for (LabelId& label : after.labels) label = found.after[label.index()];
  }

  std::vector<bool> labels_in(const LabelTrie& trie) const {
    std::vector<bool> found(diff_.labels_->size());
    for (const LabelId label : trie.labels) found[label.index()] = true;
    return found;
  }

  // Adds a side's stacks; its own weights by merged node.
  std::vector<std::uint64_t> add(const LabelTrie& trie) {
    const std::vector<std::uint32_t> node_of = merger_.add(trie);
    std::vector<std::uint64_t> self(merger_.trie().size(), 0);
    for (std::size_t i = 0; i < node_of.size(); ++i) self[node_of[i]] += trie.self[i];
    return self;
  }

  void scale_before(std::uint64_t after_total) {
    if (!options_.normalise || diff_.before_unscaled_ == 0 || diff_.before_unscaled_ == after_total) return;
    for (std::uint64_t& self : diff_.trie_.before_self)
      self = scale(self, after_total, diff_.before_unscaled_);
  }

  void compare_sides() {
    LabelTrie& trie = diff_.trie_;
    for (std::size_t i = 0; i < trie.size(); ++i) {
      std::uint64_t& before = trie.before_self[i];
      std::uint64_t& after = trie.after_self[i];
      if ((before == 0) != (after == 0)) {
        if (options_.only_common) {
          ++diff_.left_out_.stacks;
          diff_.left_out_.weight += before + after;
          before = after = 0;
          continue;
        }
        OneSided& side = after == 0 ? diff_.vanished_ : diff_.appeared_;
        ++side.stacks;
        side.weight += before + after;
      }
    }
    diff_.before_total_ = sum_of(trie.before_self);
    diff_.after_total_ = sum_of(trie.after_self);
  }

  const DiffOptions& options_;
  LabelMerger merger_;
  Diff diff_;
};

Diff derive_diff(const Profile& before, const Profile& after, const DiffOptions& options) {
  return DiffBuilder(options).build(before, after);
}

Result<void> Diff::write_folded(ByteSink& sink) const {
  // Both sides as width, so that no stack is left out.
  LabelTrie trie = trie_;
  for (std::size_t i = 0; i < trie.size(); ++i) trie.self[i] = trie.before_self[i] + trie.after_self[i];
  if (folded_bytes(trie, *labels_) > static_cast<double>(kMaxFoldedBytes)) {
    return fail(ErrorCode::kLimit, "the stacks are too deep to be written as text");
  }
  const CallTree tree = grow_tree(trie, labels_, 0);

  std::string out;
  std::string path;                     // of the current node, with a ';' after every frame but the last
  std::vector<std::size_t> path_sizes;  // of its callers
  std::vector<std::uint32_t> open = {0};
  while (!open.empty()) {
    const std::uint32_t index = open.back();
    open.pop_back();
    const CallNode& node = tree.nodes[index];
    path_sizes.resize(node.depth);
    path.resize(node.depth == 0 ? 0 : path_sizes.back());
    if (node.depth > 1) path += ';';
    append_frame(path, tree.text(node));
    path += text_of(tree.traits[index].mark);
    path_sizes.push_back(path.size());
    const CallChange& change = tree.changes[index];
    if (change.before_self + change.after_self > 0) {
      out += path;
      out += fmt::format(" {} {}\n", change.before_self, change.after_self);
    }
    for (std::uint32_t i = node.child_count; i-- > 0;) open.push_back(node.first_child + i);
    if (out.size() < kFlushBytes) continue;
    if (auto written = sink.write(out); !written) return written;
    out.clear();
  }
  return sink.write(out);
}

std::uint64_t Diff::width_total(DiffWidth width) const {
  switch (width) {
    case DiffWidth::kBefore:
      return before_total_;
    case DiffWidth::kBoth:
      return before_total_ + after_total_;
    case DiffWidth::kAfter:
      break;
  }
  return after_total_;
}

CallTree Diff::derive_tree(const DiffTreeOptions& options) const {
  LabelTrie trie = trie_;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < trie.size(); ++i) {
    const std::uint64_t before = trie.before_self[i];
    const std::uint64_t after = trie.after_self[i];
    trie.self[i] = options.width == DiffWidth::kAfter    ? after
                   : options.width == DiffWidth::kBefore ? before
                                                         : before + after;
    largest = std::max(largest, distance(before, after));
  }
  CallTree tree = options.reversed ? grow_reversed_tree(trie, labels_, options.min_total)
                                   : grow_tree(trie, labels_, options.min_total);
  tree.unit = unit_;
  tree.event = event_;
  tree.largest_self_change = largest;
  tree.shows_both_sides = options.width == DiffWidth::kBoth;
  tree.diagnostics.merge(diagnostics_);
  if (options.width == DiffWidth::kAfter && vanished_.stacks > 0) {
    tree.note = fmt::format("Vanished, so without a box: {} of before", describe(vanished_, before_total_));
  } else if (options.width == DiffWidth::kBefore && appeared_.stacks > 0) {
    tree.note = fmt::format("New, so without a box: {} of after", describe(appeared_, after_total_));
  }
  return tree;
}

// What own functions have without other own functions that they call, by label.
std::vector<std::uint64_t> Diff::charge_own(const std::vector<std::uint64_t>& self) const {
  std::vector<std::uint64_t> charged(labels_->size(), 0);
  std::vector<LabelId> own(trie_.size());
  for (std::size_t i = 1; i < trie_.size(); ++i) {
    const Label& label = (*labels_)[trie_.labels[i]];
    own[i] = is_own(label) ? trie_.labels[i] : own[trie_.parents[i]];
    if (own[i] != LabelId{}) charged[own[i].index()] += self[i];
  }
  return charged;
}

std::vector<DiffFunction> Diff::derive_functions() const {
  std::vector<std::uint32_t> group_of;
  for (const LabelId label : trie_.labels) group_of.push_back(label == LabelId{} ? kNoGroup : label.value);
  const auto before = sum_group_totals(trie_.parents, group_of, trie_.before_self, labels_->size());
  const auto after = sum_group_totals(trie_.parents, group_of, trie_.after_self, labels_->size());
  const auto before_own = charge_own(trie_.before_self);
  const auto after_own = charge_own(trie_.after_self);

  std::vector<DiffFunction> functions(labels_->size());
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const LabelId label{i};
    functions[i].name = labels_->text(label);
    functions[i].kind = (*labels_)[label].kind;
    functions[i].origin = (*labels_)[label].origin;
    functions[i].is_name = (*labels_)[label].is_name;
    functions[i].parts = labels_->parts(label);
    functions[i].source = labels_->source(label);
    functions[i].before_total = before[i];
    functions[i].after_total = after[i];
    functions[i].before_own = before_own[i];
    functions[i].after_own = after_own[i];
    if (before[i] > 0 && i < before_names_.size())
      functions[i].before_source = labels_->source(before_names_[i]);
  }
  functions[0].name = "[no stack]";
  functions[0].parts.name = functions[0].name;
  functions[0].before_total = trie_.before_self[0];
  functions[0].after_total = trie_.after_self[0];
  for (std::size_t i = 0; i < trie_.size(); ++i) {
    functions[trie_.labels[i].index()].before_self += trie_.before_self[i];
    functions[trie_.labels[i].index()].after_self += trie_.after_self[i];
  }
  std::erase_if(functions, [](const DiffFunction& f) { return f.before_total == 0 && f.after_total == 0; });
  const std::uint64_t whole = std::max(before_total_, after_total_);
  std::ranges::sort(functions, [whole](const DiffFunction& a, const DiffFunction& b) {
    const Rank left = rank_of(a, whole);
    const Rank right = rank_of(b, whole);
    return left != right ? left > right : a.name < b.name;
  });
  return functions;
}

}  // namespace nodescope
