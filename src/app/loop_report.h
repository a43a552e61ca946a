#pragma once

#include <string>
#include <vector>

#include "analysis/sampled_collections.h"
#include "analysis/turn_details.h"
#include "capture/collections.h"
#include "capture/loop_watch.h"

namespace nodescope {

// What `nodescope loop` says about one stall: lines for a person, or an object for a program.
std::string stall_text(const LoopTurn& turn, const TurnDetails& details);
std::string stall_json(const LoopTurn& turn, const TurnDetails& details);

// {"type":"gc",…}; the stack of the collection is one of `profile`.
std::string collection_json(const Profile& profile, const Collection& collection);
std::string collection_json(const Profile& profile, const SampledCollection& collection);

// {"type":"pool",…}
std::string pool_json(const FullPool& pool);

// {"type":"tick",…}
std::string tick_json(const LoopStatus& status);

// "main  busy 43 %  1,204 turns/s  p50 0.3 ms  p99 12 ms  max 312 ms", of the busiest loop, and how many more
// there are.
std::string status_text(const std::vector<LoopStatus>& loops);

// "main", "worker 4125"; with the process where there are several.
std::string loop_name(const LoopThread& thread, bool with_process);

}  // namespace nodescope
