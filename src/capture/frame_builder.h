#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "model/profile.h"
#include "v8/process_view.h"

namespace nodescope {

// Makes the model's frames of those of a process, alive or dead, for recordings, top, dump and cores: whoever
// shows a frame shows it by the same rules.
class FrameBuilder {
 public:
  FrameBuilder(Profile& profile, v8::ProcessView& view) : profile_(profile), view_(view) {}

  struct Built {
    FrameId frame;
    bool sure = true;       // false: the name or the line may be another one
    bool is_mapped = true;  // false: nothing was mapped there when the map was read
  };
  Built build(const v8::StackEntry& entry);
  Built build(const v8::Frame& frame);

  // Named as V8 prints them, "async handler", so that every format shows what they are.
  FrameId build(const v8::AsyncCaller& caller);

  // What is mapped has changed.
  void forget_places() { native_frames_.clear(); }
  // The files that JavaScript frames named since the last call, each once.
  std::vector<StringId> take_named_files() { return std::exchange(new_files_, {}); }

 private:
  Built build(const v8::NativeFrame& native);
  std::optional<FrameId> build_by_written_name(const v8::Frame& frame);

  Profile& profile_;
  v8::ProcessView& view_;
  FlatMap<std::uint64_t, FrameId> native_frames_;  // by address
  FlatSet<std::uint32_t> named_files_;
  std::vector<StringId> new_files_;
};

}  // namespace nodescope
