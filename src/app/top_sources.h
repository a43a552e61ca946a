#pragma once

#include <cstddef>
#include <vector>

#include "app/live_source_maps.h"
#include "model/profile.h"

namespace nodescope {

// A profile that grows, as `top` shows it: its last samples, with frames that source maps lead to their
// sources.  Each frame is led there once.
class TopSources {
 public:
  explicit TopSources(LiveSourceMaps& maps) : maps_(maps) {}

  // The samples of `profile` from `first_sample` on.
  Profile window(const Profile& profile, std::size_t first_sample);

 private:
  void learn_frames(const Profile& profile);

  LiveSourceMaps& maps_;
  Profile known_;
  std::vector<FrameId> frames_;  // in known_, by those of the profile
};

}  // namespace nodescope
