#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// From `begin_ns` up to but excluding `end_ns`, counted from the first sample of the profile.
struct TimeRange {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  bool operator==(const TimeRange&) const = default;
};

// Which samples to look at, and how.  Empty members select everything; members that are given must all hold.
struct Selection {
  std::optional<EventId> event;  // none: every event is kept, and views show event 0
  std::optional<TimeRange> time;
  std::vector<ThreadId> threads;
  std::vector<std::int32_t> pids;
  std::vector<std::int32_t> tids;
  std::vector<std::string> process_names;  // whole names
  std::vector<std::string> thread_names;
  // Samples whose innermost frame is of one of these kinds: where the CPU was, not what was on the way.
  std::vector<FrameKind> kinds;
  // Regular expressions (base/pattern.h) over the full labels of a stack's frames.  A sample stays if any
  // of `include` is found in any of its frames and none of `exclude` in any.
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  bool ignore_case = false;
  // Keeps the application's own frames.  What lies below the last of them becomes one leaf per cause: "(gc)"
  // if the collector is there, "(kernel)" if the innermost frame is the kernel's; anything else is charged to
  // the nearest JavaScript that called it, "(node internals)" or "(node_modules)/express", or without one is
  // "(builtin)", "(regexp)",
  // "(native)" or "(unknown)".  No sample disappears.
  bool only_my_code = false;
  // What lies above the first JavaScript frame becomes one frame, named after the phase of the event loop
  // where that can be told (analysis/event_loop.h), and stubs by which V8 calls JavaScript are left out.
  bool fold_event_loop = false;
  // What a recording with --async has in place of the microtasks' runner's callers is left out.
  bool leave_out_async_callers = false;

  bool operator==(const Selection&) const = default;
};

// Samples; taken = shown + filtered + other_events + lost.
struct Accounting {
  std::uint64_t taken = 0;
  std::uint64_t shown = 0;
  std::uint64_t filtered = 0;
  std::uint64_t other_events = 0;  // of events that the views do not show
  std::uint64_t lost = 0;          // before they reached the profile

  bool operator==(const Accounting&) const = default;
};

struct Selected {
  Profile profile;
  Accounting accounting;
};

// The part of `profile` that is selected, itself a profile: all that writers and views take.  Returned as it
// is, without a copy, where everything is selected.  Fails with kUsage on a pattern that cannot be understood
// or an event that is not there.
Result<Selected> derive_selection(Profile profile, const Selection& selection);

// The same from a profile that stays.
Result<Selected> copy_selection(const Profile& profile, const Selection& selection);

// Accounting of an unfiltered view of event 0.
Accounting derive_accounting(const Profile& profile);

// The event of that name, or with that number ("1").
std::optional<EventId> find_event(const Profile& profile, std::string_view name);

}  // namespace nodescope
