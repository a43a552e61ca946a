#include "analysis/selection.h"

#include "analysis/sample_filter.h"
#include "analysis/stack_copy.h"
#include "base/text.h"

namespace nodescope {

namespace {

bool selects_everything(const Selection& selection) {
  Selection everything;
  everything.ignore_case = selection.ignore_case;
  return selection == everything;
}

std::vector<bool> sampled_stacks(const Profile& profile, const std::vector<std::size_t>& kept) {
  std::vector<bool> sampled(profile.stacks.size());
  for (const std::size_t sample : kept) sampled[profile.samples.stack(sample).index()] = true;
  return sampled;
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
  for (const SourceText& source : from.sources)
    into.sources.push_back({into.strings.intern(from.text(source.file)), source.text});
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
  const std::vector<StackId> stacks = copy_selected_stacks(from, into, selection, sampled);
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
  if (!selects_everything(selection)) return copy_selection(profile, selection);
  const Accounting accounting = derive_accounting(profile);
  return Selected{std::move(profile), accounting};
}

Result<Selected> copy_selection(const Profile& profile, const Selection& selection) {
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
