#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "model/profile.h"

namespace nodescope {

// Turns the duration events of a trace into markers for what the collector did.
class GcMarkers {
 public:
  // A complete event ("X").
  void add(Profile& profile, std::uint64_t thread, std::string_view name, std::int64_t time_ns,
           std::int64_t duration_ns);
  // A pair ("B", "E"): an end belongs to the innermost beginning of its thread, and may have no name.
  void begin(Profile& profile, std::uint64_t thread, std::string_view name, std::int64_t time_ns);
  void end(Profile& profile, std::uint64_t thread, std::string_view name, std::int64_t time_ns);

  bool empty() const { return markers_.empty(); }

  // Adds the markers to `profile`.  Events nest: a collection consists of phases.  The outermost are of kind
  // kGc, so their durations add up to the time in the collector; what is inside of them is kOther.  What has
  // begun and not ended lasts until the last event.
  void build(Profile& profile, const std::function<ThreadId(std::uint64_t)>& thread_of);

 private:
  struct Raw {
    std::uint64_t thread;
    std::int64_t time_ns;
    std::int64_t end_ns;
    StringId name;
  };
  struct Open {
    StringId name;
    std::int64_t time_ns;
    bool is_gc;
  };

  void add_raw(std::uint64_t thread, StringId name, std::int64_t time_ns, std::int64_t end_ns);

  std::vector<Raw> markers_;
  FlatMap<std::uint64_t, std::vector<Open>> open_;
  std::int64_t last_ns_ = 0;
};

}  // namespace nodescope
