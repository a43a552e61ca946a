#include "analysis/sample_filter.h"

#include <algorithm>

#include "analysis/labels.h"
#include "analysis/saturating.h"

namespace nodescope {

namespace {

bool contains(const auto& values, const auto& value) {
  return std::ranges::find(values, value) != values.end();
}

bool accepts(const auto& wanted, const auto& value) {
  return wanted.empty() || contains(wanted, value);
}

Result<std::vector<Pattern>> parse_patterns(const std::vector<std::string>& texts, bool ignore_case) {
  std::vector<Pattern> patterns;
  for (const std::string& text : texts) {
    auto pattern = Pattern::parse(text, ignore_case);
    if (!pattern) return std::unexpected(pattern.error());
    patterns.push_back(std::move(*pattern));
  }
  return patterns;
}

// The first sample that is not before `time_ns`, among sorted ones.
std::size_t lower_bound(const SampleTable& samples, std::int64_t time_ns) {
  std::size_t begin = 0;
  std::size_t count = samples.size();
  while (count > 0) {
    const std::size_t half = count / 2;
    if (samples.time_ns(begin + half) < time_ns) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

}  // namespace

std::int64_t first_time_ns(const Profile& profile) {
  const SampleTable& samples = profile.samples;
  if (samples.size() == 0) return 0;
  std::int64_t first_ns = samples.time_ns(0);
  if (samples.is_sorted_by_time()) return first_ns;
  for (std::size_t i = 1; i < samples.size(); ++i) first_ns = std::min(first_ns, samples.time_ns(i));
  return first_ns;
}

std::vector<std::uint8_t> find_stacks(const Profile& profile, const std::vector<Pattern>& patterns) {
  std::vector<std::uint8_t> frames(profile.frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string label = label_of(profile, profile.frames[FrameId{i}]);
    frames[i] = std::ranges::any_of(patterns, [&](const Pattern& pattern) { return pattern.found_in(label); })
                    ? 1
                    : 0;
  }
  std::vector<std::uint8_t> stacks(profile.stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    const StackId stack{i};
    stacks[i] = frames[profile.stacks.frame(stack).index()] | stacks[profile.stacks.caller(stack).index()];
  }
  return stacks;
}

Result<SampleFilter> SampleFilter::build(const Profile& profile, const Selection& selection) {
  if (selection.event && selection.event->index() >= profile.events().size()) {
    return fail(ErrorCode::kUsage, "the profile has no such event");
  }
  auto include = parse_patterns(selection.include, selection.ignore_case);
  if (!include) return std::unexpected(include.error());
  auto exclude = parse_patterns(selection.exclude, selection.ignore_case);
  if (!exclude) return std::unexpected(exclude.error());
  return SampleFilter(profile, selection, *include, *exclude);
}

SampleFilter::SampleFilter(const Profile& profile, const Selection& selection,
                           const std::vector<Pattern>& include, const std::vector<Pattern>& exclude)
    : profile_(&profile) {
  choose_times(selection);
  choose_contexts(selection);
  choose_stacks(selection, include, exclude);
}

std::pair<std::size_t, std::size_t> SampleFilter::sample_range() const {
  const SampleTable& samples = profile_->samples;
  if (!has_time_ || !samples.is_sorted_by_time()) return {0, samples.size()};
  const std::size_t begin = lower_bound(samples, begin_ns_);
  return {begin, std::max(begin, lower_bound(samples, end_ns_))};
}

void SampleFilter::choose_times(const Selection& selection) {
  if (!selection.time) return;
  const std::int64_t first_ns = first_time_ns(*profile_);
  begin_ns_ = saturating_add(first_ns, selection.time->begin_ns);
  end_ns_ = saturating_add(first_ns, selection.time->end_ns);
  has_time_ = true;
}

void SampleFilter::choose_contexts(const Selection& selection) {
  for (std::size_t i = 0; i < profile_->threads().size(); ++i) {
    const Thread& thread = profile_->threads()[i];
    const Process& process = profile_->process(thread.process);
    keeps_thread_.push_back(accepts(selection.threads, ThreadId{i}) && accepts(selection.pids, process.pid) &&
                            accepts(selection.tids, thread.tid) &&
                            accepts(selection.process_names, profile_->text(process.name)) &&
                            accepts(selection.thread_names, profile_->text(thread.name)));
  }
  for (const SampleContext& context : profile_->samples.contexts()) {
    const bool keeps =
        (!selection.event || *selection.event == context.event) && keeps_thread_[context.thread.index()];
    keeps_context_.push_back(keeps ? 1 : 0);
  }
}

void SampleFilter::choose_stacks(const Selection& selection, const std::vector<Pattern>& include,
                                 const std::vector<Pattern>& exclude) {
  keeps_every_stack_ = include.empty() && exclude.empty() && selection.kinds.empty();
  keeps_stack_ = include.empty() ? std::vector<std::uint8_t>(profile_->stacks.size(), 1)
                                 : find_stacks(*profile_, include);
  if (!exclude.empty()) {
    const std::vector<std::uint8_t> excluded = find_stacks(*profile_, exclude);
    for (std::size_t i = 0; i < excluded.size(); ++i) {
      if (excluded[i] != 0) keeps_stack_[i] = 0;
    }
  }
  if (selection.kinds.empty()) return;
  for (std::size_t i = 0; i < keeps_stack_.size(); ++i) {
    // A sample without any frame is of unknown kind.
    const FrameKind kind =
        i == 0 ? FrameKind::kUnknown : profile_->frames[profile_->stacks.frame(StackId{i})].kind;
    if (!contains(selection.kinds, kind)) keeps_stack_[i] = 0;
  }
}

}  // namespace nodescope
