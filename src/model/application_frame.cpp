#include "model/application_frame.h"

namespace nodescope {

std::optional<FrameId> application_frame(const Profile& profile, StackId stack) {
  std::optional<FrameId> of_node;
  for (; stack != kEmptyStack; stack = profile.stacks.caller(stack)) {
    const FrameId id = profile.stacks.frame(stack);
    const Frame& frame = profile.frames[id];
    if (frame.kind != FrameKind::kJs) continue;
    const std::string_view file = profile.text(frame.file);
    if (!file.starts_with("node:") && !file.starts_with("internal/")) return id;
    if (!of_node) of_node = id;
  }
  return of_node;
}

std::string frame_text(const Profile& profile, FrameId id) {
  const Frame& frame = profile.frames[id];
  std::string text(profile.text(frame.function));
  if (text.empty()) text = "(anonymous)";
  const std::string_view file = profile.text(frame.file);
  if (file.empty()) return text;
  text += " ";
  text += file;
  return frame.line == 0 ? text : text + ":" + std::to_string(frame.line);
}

}  // namespace nodescope
