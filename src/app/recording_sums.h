#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/selection.h"
#include "app/turns_summary.h"
#include "base/flat_map.h"
#include "base/hash.h"
#include "model/profile.h"

namespace nodescope {

// What a recording adds up to whose samples and markers are written and forgotten: it costs memory for what
// is distinct, not for the length of the recording.
class RecordingSums {
 public:
  // All samples and markers that `profile` has now.  Its stacks, threads and events stay the same ones.
  void add(const Profile& profile);

  bool empty() const { return samples_ == 0; }
  // Of the samples that were added.
  Accounting accounting(const Profile& profile) const;
  const TurnTotals& turns() const { return turns_; }

  // Gives `profile`, which has no samples, the first one and a sum for each stack of each thread at the time
  // when it was last seen: with them all that counts weights gives the numbers of the whole recording.
  void put_into(Profile& profile) const;

 private:
  struct Key {
    StackId stack;
    ThreadId thread;
    EventId event;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    using is_avalanching = void;
    std::uint64_t operator()(const Key& key) const {
      return mix(std::uint64_t{key.stack.value} << 32 | key.thread.value,
                 key.event.value ^ 0x9E3779B97F4A7C15u);
    }
  };
  struct Sum {
    std::uint64_t weight = 0;
    std::int64_t last_time_ns = 0;
  };

  std::uint64_t samples_ = 0;
  std::uint64_t of_first_event_ = 0;
  std::optional<Sample> first_;
  FlatMap<Key, Sum, KeyHash> sums_;
  TurnTotals turns_;
};

}  // namespace nodescope
