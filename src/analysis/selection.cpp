#include "analysis/selection.h"

#include <algorithm>
#include <limits>

#include "analysis/code_origin.h"
#include "analysis/labels.h"
#include "base/pattern.h"
#include "base/text.h"

namespace nodescope {

namespace {

bool contains(const auto& values, const auto& value) {
  return std::ranges::find(values, value) != values.end();
}

bool accepts(const auto& wanted, const auto& value) {
  return wanted.empty() || contains(wanted, value);
}

bool selects_everything(const Selection& selection) {
  Selection everything;
  everything.ignore_case = selection.ignore_case;
  return selection == everything;
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

// Which stacks have a frame in which any of `patterns` is found.
std::vector<bool> find_stacks(const Profile& profile, const std::vector<Pattern>& patterns) {
  std::vector<bool> frames(profile.frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string label = label_of(profile, profile.frames[FrameId{i}]);
    frames[i] =
        std::ranges::any_of(patterns, [&](const Pattern& pattern) { return pattern.found_in(label); });
  }
  std::vector<bool> stacks(profile.stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    const StackId stack{i};
    stacks[i] = frames[profile.stacks.frame(stack).index()] || stacks[profile.stacks.caller(stack).index()];
  }
  return stacks;
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

// Decides sample by sample; everything that depends on less than the sample is looked up.
class SampleFilter {
 public:
  static Result<SampleFilter> build(const Profile& profile, const Selection& selection) {
    if (selection.event && selection.event->index() >= profile.events().size()) {
      return fail(ErrorCode::kUsage, "the profile has no such event");
    }
    auto include = parse_patterns(selection.include, selection.ignore_case);
    if (!include) return std::unexpected(include.error());
    auto exclude = parse_patterns(selection.exclude, selection.ignore_case);
    if (!exclude) return std::unexpected(exclude.error());
    return SampleFilter(profile, selection, *include, *exclude);
  }

  bool keeps(std::size_t sample) const {
    const std::int64_t time_ns = profile_->samples.time_ns(sample);
    return keeps_context_[profile_->samples.context_id(sample).index()] &&
           keeps_stack_[profile_->samples.stack(sample).index()] && keeps_time(time_ns);
  }
  bool keeps_time(std::int64_t time_ns) const { return begin_ns_ <= time_ns && time_ns < end_ns_; }
  bool keeps_context(ContextId context) const { return keeps_context_[context.index()]; }
  bool keeps_thread(ThreadId thread) const { return keeps_thread_[thread.index()]; }

 private:
  SampleFilter(const Profile& profile, const Selection& selection, const std::vector<Pattern>& include,
               const std::vector<Pattern>& exclude)
      : profile_(&profile) {
    choose_times(selection);
    choose_contexts(selection);
    choose_stacks(selection, include, exclude);
  }

  void choose_times(const Selection& selection) {
    if (!selection.time) return;
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < profile_->samples.size(); ++i) {
      first_ns = std::min(first_ns, profile_->samples.time_ns(i));
    }
    begin_ns_ = saturating_add(first_ns, selection.time->begin_ns);
    end_ns_ = saturating_add(first_ns, selection.time->end_ns);
  }

  void choose_contexts(const Selection& selection) {
    for (const Thread& thread : profile_->threads()) {
      const Process& process = profile_->process(thread.process);
      keeps_thread_.push_back(accepts(selection.pids, process.pid) && accepts(selection.tids, thread.tid) &&
                              accepts(selection.process_names, profile_->text(process.name)) &&
                              accepts(selection.thread_names, profile_->text(thread.name)));
    }
    for (const SampleContext& context : profile_->samples.contexts()) {
      keeps_context_.push_back((!selection.event || *selection.event == context.event) &&
                               keeps_thread_[context.thread.index()]);
    }
  }

  void choose_stacks(const Selection& selection, const std::vector<Pattern>& include,
                     const std::vector<Pattern>& exclude) {
    keeps_stack_ =
        include.empty() ? std::vector<bool>(profile_->stacks.size(), true) : find_stacks(*profile_, include);
    if (!exclude.empty()) {
      const std::vector<bool> excluded = find_stacks(*profile_, exclude);
      for (std::size_t i = 0; i < excluded.size(); ++i) keeps_stack_[i] = keeps_stack_[i] && !excluded[i];
    }
    if (selection.kinds.empty()) return;
    for (std::size_t i = 0; i < keeps_stack_.size(); ++i) {
      // A sample without any frame is of unknown kind.
      const FrameKind kind =
          i == 0 ? FrameKind::kUnknown : profile_->frames[profile_->stacks.frame(StackId{i})].kind;
      keeps_stack_[i] = keeps_stack_[i] && contains(selection.kinds, kind);
    }
  }

  const Profile* profile_;
  std::int64_t begin_ns_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t end_ns_ = std::numeric_limits<std::int64_t>::max();
  std::vector<bool> keeps_thread_;
  std::vector<bool> keeps_context_;
  std::vector<bool> keeps_stack_;
};

// Copies frames and stacks from one profile to another, each at most once.
class StackCopier {
 public:
  StackCopier(const Profile& from, Profile& into) : from_(from), into_(into), frames_(from.frames.size()) {}

  StringId copy(StringId text) { return into_.strings.intern(from_.text(text)); }

  FrameId copy(FrameId id) {
    std::optional<FrameId>& copied = frames_[id.index()];
    if (!copied) {
      Frame frame = from_.frames[id];
      frame.function = copy(frame.function);
      frame.file = copy(frame.file);
      frame.module = copy(frame.module);
      copied = into_.frames.intern(frame);
    }
    return *copied;
  }

 private:
  const Profile& from_;
  Profile& into_;
  std::vector<std::optional<FrameId>> frames_;
};

std::vector<bool> sampled_stacks(const Profile& profile, const std::vector<std::size_t>& kept) {
  std::vector<bool> sampled(profile.stacks.size());
  for (const std::size_t sample : kept) sampled[profile.samples.stack(sample).index()] = true;
  return sampled;
}

// `used` and all their callers.
std::vector<bool> with_callers(const Profile& profile, std::vector<bool> used) {
  for (std::size_t i = used.size(); i-- > 1;) {
    if (used[i]) used[profile.stacks.caller(StackId{i}).index()] = true;
  }
  return used;
}

// The new stack of every sampled old one.
std::vector<StackId> copy_stacks(const Profile& from, Profile& into, const std::vector<bool>& sampled) {
  const std::vector<bool> used = with_callers(from, sampled);
  StackCopier copier(from, into);
  std::vector<StackId> stacks(from.stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    if (!used[i]) continue;
    const StackId stack{i};
    stacks[i] =
        into.stacks.push(stacks[from.stacks.caller(stack).index()], copier.copy(from.stacks.frame(stack)));
  }
  return stacks;
}

FrameKind kind_of(Origin origin) {
  switch (origin) {
    case Origin::kOwn:
    case Origin::kPackage:
    case Origin::kNode:
      return FrameKind::kJs;
    case Origin::kBuiltin:
      return FrameKind::kBuiltin;
    case Origin::kRegExp:
      return FrameKind::kRegExp;
    case Origin::kGc:
      return FrameKind::kGc;
    case Origin::kNative:
      return FrameKind::kNative;
    case Origin::kKernel:
      return FrameKind::kKernel;
    case Origin::kUnknown:
      break;
  }
  return FrameKind::kUnknown;
}

FrameId intern_cause(Profile& into, const CodeOrigin& cause) {
  Frame frame;
  frame.function = into.strings.intern(to_string(cause));
  frame.kind = kind_of(cause.origin);
  return into.frames.intern(frame);
}

// What lies between the last own frame and the end of a stack.
struct Below {
  StackId own;                         // the new stack up to the last own frame
  CodeOrigin cause{Origin::kOwn, {}};  // the nearest JavaScript that is not own; kOwn: there is none
  bool has_gc = false;
};

CodeOrigin cause_of(const Below& below, const CodeOrigin& innermost) {
  if (below.has_gc) return {Origin::kGc, {}};
  if (innermost.origin == Origin::kKernel || below.cause.origin == Origin::kOwn) return innermost;
  return below.cause;
}

// As copy_stacks, but with the application's own frames only and one leaf for what lies below them.
std::vector<StackId> copy_own_stacks(const Profile& from, Profile& into, const std::vector<bool>& sampled) {
  const std::vector<bool> used = with_callers(from, sampled);
  StackCopier copier(from, into);
  std::vector<Below> below(from.stacks.size());
  std::vector<StackId> stacks(from.stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    if (!used[i]) continue;
    const StackId stack{i};
    const FrameId frame = from.stacks.frame(stack);
    const CodeOrigin origin = origin_of(from, from.frames[frame]);
    Below here = below[from.stacks.caller(stack).index()];
    if (origin.origin == Origin::kOwn) {
      here = {into.stacks.push(here.own, copier.copy(frame))};
      stacks[i] = here.own;
    } else {
      if (origin.origin == Origin::kPackage || origin.origin == Origin::kNode) here.cause = origin;
      here.has_gc = here.has_gc || origin.origin == Origin::kGc;
      if (sampled[i]) stacks[i] = into.stacks.push(here.own, intern_cause(into, cause_of(here, origin)));
    }
    below[i] = here;
  }
  return stacks;
}

ProcessId copy_process(const Profile& from, ProcessId id, Profile& into) {
  const Process& process = from.process(id);
  return into.intern_process(process.pid, from.text(process.name));
}

ThreadId copy_thread(const Profile& from, ThreadId id, Profile& into) {
  const Thread& thread = from.thread(id);
  return into.intern_thread(copy_process(from, thread.process, into), thread.tid, from.text(thread.name));
}

// Everything but frames, stacks and samples.
void copy_surroundings(const Profile& from, const SampleFilter& filter, Profile& into) {
  into.facts = from.facts;
  into.diagnostics = from.diagnostics;
  into.lost_samples = from.lost_samples;
  into.clock_offset_ns = from.clock_offset_ns;
  std::vector<bool> keeps_process(from.processes().size());
  for (std::size_t i = 0; i < from.threads().size(); ++i) {
    if (filter.keeps_thread(ThreadId{i})) keeps_process[from.threads()[i].process.index()] = true;
  }
  for (Mapping mapping : from.mappings) {
    if (!keeps_process[mapping.process.index()]) continue;
    mapping.process = copy_process(from, mapping.process, into);
    mapping.file = into.strings.intern(from.text(mapping.file));
    mapping.build_id = into.strings.intern(from.text(mapping.build_id));
    into.mappings.push_back(mapping);
  }
  for (Marker marker : from.markers) {
    if (!filter.keeps_thread(marker.thread) || !filter.keeps_time(marker.time_ns)) continue;
    marker.thread = copy_thread(from, marker.thread, into);
    marker.name = into.strings.intern(from.text(marker.name));
    into.markers.push_back(marker);
  }
}

// The new context of every old one that passes.
std::vector<ContextId> copy_contexts(const Profile& from, std::optional<EventId> only,
                                     const SampleFilter& filter, Profile& into) {
  std::vector<EventId> events;
  for (std::size_t i = 0; i < from.events().size(); ++i) {
    const Event& event = from.events()[i];
    const bool wanted = !only || *only == EventId{i};
    events.push_back(wanted ? into.intern_event(from.text(event.name), event.unit) : EventId{});
  }
  std::vector<ContextId> contexts;
  for (std::size_t i = 0; i < from.samples.contexts().size(); ++i) {
    ContextId copied;
    if (filter.keeps_context(ContextId{i})) {
      const SampleContext& context = from.samples.contexts()[i];
      copied = into.samples.intern(
          {copy_thread(from, context.thread, into), context.cpu, events[context.event.index()]});
    }
    contexts.push_back(copied);
  }
  return contexts;
}

Profile copy_selected(const Profile& from, const Selection& selection, const SampleFilter& filter,
                      const std::vector<std::size_t>& kept) {
  Profile into;
  copy_surroundings(from, filter, into);
  const std::vector<ContextId> contexts = copy_contexts(from, selection.event, filter, into);
  const std::vector<bool> sampled = sampled_stacks(from, kept);
  const std::vector<StackId> stacks =
      selection.only_my_code ? copy_own_stacks(from, into, sampled) : copy_stacks(from, into, sampled);
  for (const std::size_t i : kept) {
    into.samples.add(from.samples.time_ns(i), stacks[from.samples.stack(i).index()],
                     contexts[from.samples.context_id(i).index()], from.samples.weight(i));
  }
  return into;
}

}  // namespace

Accounting derive_accounting(const Profile& profile) {
  Accounting accounting;
  accounting.lost = profile.lost_samples;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    if (profile.samples.context(i).event == EventId{}) {
      ++accounting.shown;
    } else {
      ++accounting.other_events;
    }
  }
  accounting.taken = profile.samples.size() + profile.lost_samples;
  return accounting;
}

Result<Selected> derive_selection(Profile profile, const Selection& selection) {
  if (selects_everything(selection)) {
    const Accounting accounting = derive_accounting(profile);
    return Selected{std::move(profile), accounting};
  }
  const auto filter = SampleFilter::build(profile, selection);
  if (!filter) return std::unexpected(filter.error());

  const EventId shown_event = selection.event.value_or(EventId{});
  Accounting accounting;
  accounting.lost = profile.lost_samples;
  accounting.taken = profile.samples.size() + profile.lost_samples;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const bool keeps = filter->keeps(i);
    if (keeps) kept.push_back(i);
    if (profile.samples.context(i).event != shown_event) {
      ++accounting.other_events;
    } else if (keeps) {
      ++accounting.shown;
    } else {
      ++accounting.filtered;
    }
  }
  return Selected{copy_selected(profile, selection, *filter, kept), accounting};
}

std::optional<EventId> find_event(const Profile& profile, std::string_view name) {
  for (std::size_t i = 0; i < profile.events().size(); ++i) {
    if (profile.text(profile.events()[i].name) == name) return EventId{i};
  }
  const auto number = parse_number<std::uint32_t>(name);
  if (!number || *number >= profile.events().size()) return std::nullopt;
  return EventId{*number};
}

}  // namespace nodescope
