#include "analysis/function_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/code_origin.h"
#include "analysis/group_totals.h"
#include "analysis/thread_group.h"
#include "base/path.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr auto kGroupNames = std::to_array<std::pair<std::string_view, GroupBy>>({
    {"function", GroupBy::kFunction},
    {"file", GroupBy::kFile},
    {"package", GroupBy::kPackage},
    {"module", GroupBy::kModule},
    {"kind", GroupBy::kKind},
    {"process", GroupBy::kProcess},
    {"thread", GroupBy::kThread},
});

constexpr std::string_view kNoStack = "[no stack]";

// The binary or library of code that has no file; what there is instead of one for V8's and the kernel's
// code.
std::string module_name(const Profile& profile, const Frame& frame) {
  const std::string_view module = file_name_of(profile.text(frame.module));
  if (!module.empty()) return std::string(module);
  return to_string(origin_of(profile, frame));
}

std::string package_name(const Profile& profile, const Frame& frame) {
  const CodeOrigin origin = origin_of(profile, frame);
  switch (origin.origin) {
    case Origin::kPackage:
      return std::string(origin.package);
    case Origin::kKernel:
      return "[kernel]";
    case Origin::kNative:
    case Origin::kUnknown:
      return module_name(profile, frame);
    default:
      return to_string(origin);
  }
}

std::string file_name(const Profile& profile, const Frame& frame) {
  const std::string_view file = profile.text(frame.file);
  return file.empty() ? module_name(profile, frame) : std::string(file);
}

std::string frame_group(const Profile& profile, const Frame& frame, GroupBy group) {
  switch (group) {
    case GroupBy::kFile:
      return file_name(profile, frame);
    case GroupBy::kPackage:
      return package_name(profile, frame);
    case GroupBy::kModule:
      return module_name(profile, frame);
    default:
      return std::string(to_string(shown_kind(profile, frame)));
  }
}

class TableBuilder {
 public:
  TableBuilder(const Profile& profile, const FunctionTableOptions& options)
      : profile_(profile), options_(options) {
    table_.group = options.group;
    const bool known = options.event.index() < profile.events().size();
    if (known)
      table_.unit = options.count == CountBy::kSamples ? Unit::kSamples : profile.event(options.event).unit;
    counts_weights_ =
        options.count == CountBy::kWeight || (known && profile.event(options.event).unit == Unit::kSamples);
  }

  FunctionTable build() {
    if (options_.group == GroupBy::kProcess || options_.group == GroupBy::kThread) {
      build_by_thread();
    } else {
      build_by_frame();
    }
    // What clipping left without a count is still there to be seen.
    std::erase_if(table_.rows, [&](const FunctionRow& row) {
      return row.self == 0 && row.total == 0 && !(table_.clipped && row.samples != 0);
    });
    sort_rows();
    return std::move(table_);
  }

 private:
  // The row of that name and kind, which may be new.
  std::uint32_t row_of(const std::string& name, FrameKind kind) {
    const auto [entry, added] =
        rows_.try_emplace(fmt::format("{}:{}", static_cast<int>(kind), name), table_.rows.size());
    if (added) {
      FunctionRow row;
      row.name = name;
      row.kind = kind;
      row.parts.name = name;
      table_.rows.push_back(std::move(row));
    }
    return static_cast<std::uint32_t>(entry->second);
  }

  void visit_samples(const auto& visit) {
    for (std::size_t i = options_.first_sample; i < profile_.samples.size(); ++i) {
      const SampleContext& context = profile_.samples.context(i);
      if (context.event != options_.event) continue;
      const std::uint64_t wanted = counts_weights_ ? profile_.samples.weight(i) : 1;
      const std::uint64_t weight = std::min(wanted, kMaxTotal - table_.total);
      table_.clipped = table_.clipped || weight < wanted;
      table_.total += weight;
      visit(context, profile_.samples.stack(i), weight);
    }
  }

  void build_by_thread() {
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < profile_.threads().size(); ++i) {
      rows.push_back(row_of(thread_group(profile_, ThreadId{i}, options_.group), FrameKind::kUnknown));
    }
    visit_samples([&](const SampleContext& context, StackId, std::uint64_t weight) {
      FunctionRow& row = table_.rows[rows[context.thread.index()]];
      row.self += weight;
      row.total += weight;
      ++row.samples;
    });
  }

  std::vector<std::uint32_t> rows_by_frame() {
    std::vector<std::uint32_t> rows;
    if (options_.group == GroupBy::kFunction) {
      LabelTable labels(options_.labels);
      const std::vector<LabelId> label_of_frame = labels.add_frames(profile_);
      for (std::size_t i = 0; i < labels.size(); ++i) {
        FunctionRow row;
        row.name = labels.text(LabelId{i});
        row.kind = labels[LabelId{i}].kind;
        row.tier = labels[LabelId{i}].tier;
        row.origin = labels[LabelId{i}].origin;
        row.parts = labels.parts(LabelId{i});
        row.source = labels.source(LabelId{i});
        table_.rows.push_back(std::move(row));
      }
      for (const LabelId label : label_of_frame) rows.push_back(label.value);
      return rows;
    }
    const bool has_origin = options_.group == GroupBy::kFile || options_.group == GroupBy::kPackage;
    for (std::size_t i = 0; i < profile_.frames.size(); ++i) {
      const Frame& frame = profile_.frames[FrameId{i}];
      const FrameKind kind =
          options_.group == GroupBy::kKind ? shown_kind(profile_, frame) : FrameKind::kUnknown;
      rows.push_back(row_of(frame_group(profile_, frame, options_.group), kind));
      FunctionRow& row = table_.rows[rows.back()];
      if (has_origin && row.origin == Origin::kUnknown) row.origin = origin_of(profile_, frame).origin;
    }
    return rows;
  }

  void build_by_frame() {
    const std::vector<std::uint32_t> rows = rows_by_frame();
    const std::size_t stacks = profile_.stacks.size();
    std::vector<std::uint32_t> parents(stacks, 0);
    std::vector<std::uint32_t> group_of(stacks, kNoGroup);
    for (std::size_t i = 1; i < stacks; ++i) {
      parents[i] = profile_.stacks.caller(StackId{i}).value;
      group_of[i] = rows[profile_.stacks.frame(StackId{i}).index()];
    }
    std::vector<std::uint64_t> self(stacks, 0);
    std::vector<std::uint64_t> samples(stacks, 0);
    visit_samples([&](const SampleContext&, StackId stack, std::uint64_t weight) {
      self[stack.index()] += weight;
      ++samples[stack.index()];
    });
    const std::vector<std::uint64_t> totals = sum_group_totals(parents, group_of, self, table_.rows.size());
    for (std::size_t i = 0; i < totals.size(); ++i) table_.rows[i].total = totals[i];
    for (std::size_t i = 1; i < stacks; ++i) {
      FunctionRow& row = table_.rows[group_of[i]];
      row.self += self[i];
      row.samples += samples[i];
    }
    if (self[0] > 0) {
      FunctionRow& row = table_.rows.emplace_back();
      row.name = kNoStack;
      row.parts.name = kNoStack;
      row.self = row.total = self[0];
      row.samples = samples[0];
    }
  }

  void sort_rows() {
    std::ranges::sort(table_.rows, [this](const FunctionRow& a, const FunctionRow& b) {
      const auto by_self = std::pair(a.self, a.total) <=> std::pair(b.self, b.total);
      const auto by_total = std::pair(a.total, a.self) <=> std::pair(b.total, b.self);
      if (options_.sort == SortBy::kSelf && by_self != 0) return by_self > 0;
      if (options_.sort == SortBy::kTotal && by_total != 0) return by_total > 0;
      return std::pair(std::string_view(a.name), a.kind) < std::pair(std::string_view(b.name), b.kind);
    });
  }

  // As in call trees: sums cannot overflow.
  static constexpr std::uint64_t kMaxTotal = std::uint64_t{1} << 62;

  const Profile& profile_;
  const FunctionTableOptions& options_;
  bool counts_weights_ = true;
  FunctionTable table_;
  FlatMap<std::string, std::size_t> rows_;
};

}  // namespace

std::string thread_group(const Profile& profile, ThreadId id, GroupBy group) {
  const Thread& thread = profile.thread(id);
  const Process& process = profile.process(thread.process);
  const bool by_process = group == GroupBy::kProcess;
  const std::int32_t number = by_process ? process.pid : thread.tid;
  std::string_view name = profile.text(by_process ? process.name : thread.name);
  if (name.empty()) name = profile.text(process.name);
  if (number == 0) return name.empty() ? "[unknown]" : std::string(name);
  return name.empty() ? fmt::format("{}", number) : fmt::format("{} {}", name, number);
}

std::optional<GroupBy> group_by_of(std::string_view name) {
  const auto found = std::ranges::find(kGroupNames, name, [](const auto& entry) { return entry.first; });
  if (found == kGroupNames.end()) return std::nullopt;
  return found->second;
}

std::string_view to_string(GroupBy group) {
  return std::ranges::find(kGroupNames, group, [](const auto& entry) { return entry.second; })->first;
}

FunctionTable derive_function_table(const Profile& profile, const FunctionTableOptions& options) {
  return TableBuilder(profile, options).build();
}

std::string human_count(std::uint64_t value, Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return human_duration_ns(value);
    case Unit::kBytes:
      return human_bytes(value);
    case Unit::kSamples:
    case Unit::kCount:
      break;
  }
  return with_thousands(value);
}

}  // namespace nodescope
