#pragma once

#include <cstdint>
#include <vector>

#include "analysis/stalls.h"
#include "model/profile.h"

namespace nodescope {

// A measured turn of an event loop, with what samples say about it.
struct TurnDetails {
  Profile profile;  // only the samples of the turn
  Stall stall;
  std::uint64_t collected_ns = 0;  // by the markers of collections; 0 where there are none
  std::vector<FrameId> hottest;    // of `profile`: the stack that most samples share, innermost first
};

// `turn` is a marker of `profile`, whose last samples are those of the turn.
TurnDetails describe_turn(const Profile& profile, const Marker& turn);

}  // namespace nodescope
