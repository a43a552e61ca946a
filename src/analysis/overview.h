#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/selection.h"
#include "model/profile.h"

namespace nodescope {

// What a thread of a Node.js process is for.
enum class ThreadRole : std::uint8_t { kMain, kWorker, kV8, kLibuv, kOther };
std::string_view to_string(ThreadRole role);

struct ThreadOverview {
  std::uint64_t samples = 0;
  bool runs_js = false;
  ThreadRole role = ThreadRole::kOther;

  bool operator==(const ThreadOverview&) const = default;
};

// Samples by how much of their stacks is known.
struct Resolution {
  std::uint64_t full = 0;     // every frame has a name
  std::uint64_t partial = 0;  // some have
  std::uint64_t none = 0;     // none has, or there is no frame

  bool operator==(const Resolution&) const = default;
};

// A profile at a glance.
struct Overview {
  Accounting accounting;  // of event 0
  Resolution resolution;  // of all events
  std::int64_t first_time_ns = 0;
  std::int64_t duration_ns = 0;         // 0: there are no times
  std::vector<ThreadOverview> threads;  // by ThreadId
  bool kinds_known = false;             // some frame says what kind of code it is
  std::string app_root;                 // the longest folder common to all own files; "" for none
  double rate_hz = 0;                   // samples a second of a busy thread; 0: not known
  bool rate_estimated = false;          // from the gaps between samples

  bool operator==(const Overview&) const = default;
};

Overview derive_overview(const Profile& profile);

// Whether `frame` has no name: "[unknown]" and "[unknown js]" are none.
bool is_unresolved(const Profile& profile, const Frame& frame);

}  // namespace nodescope
