#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "json/reader.h"
#include "model/profile.h"

namespace nodescope {

// The frames that all profiles of a speedscope file share.
class SharedFrames {
 public:
  // Reads the next value, the array of frames.
  void read(json::Reader& reader, Profile& profile);

  std::size_t size() const { return frames_.size(); }
  // The frame with that number in the file; nothing for the one that nodescope writes for a stack without
  // frames.
  std::optional<FrameId> operator[](std::size_t number) const { return frames_[number]; }

 private:
  std::optional<FrameId> read_frame(json::Reader& reader, Profile& profile);

  std::vector<std::optional<FrameId>> frames_;
};

}  // namespace nodescope
