#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/profile.h"

namespace nodescope {

// What the measured turns and collections of a recording add up to, whatever became of the recording since.
class TurnTotals {
 public:
  void add(const Profile& profile);

  // Empty where there was no such turn.
  std::string stalls_line() const;
  // "collector: Scavenge 120 ms in 45 pauses, longest 9 ms".  Empty without any.
  std::string collections_line() const;

 private:
  struct Sum {
    std::uint64_t count = 0;
    std::int64_t total_ns = 0;
    std::int64_t longest_ns = 0;

    void add(std::int64_t duration_ns);
  };

  Sum stalls_;
  std::map<std::string, Sum, std::less<>> collections_;  // by kind
};

// Lines about the event loops and the collector of a recording that measured them: "event loop: 3 stalls of
// 50 ms or more, longest 1.50 s: aggregate blocks node 4120 for 1.5 s, every 4.0 s."  Empty for others.
std::string turns_summary(const Profile& profile);

}  // namespace nodescope
