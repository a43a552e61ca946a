#include "formats/v8_log/vm_state.h"

#include <array>
#include <string_view>

namespace nodescope::v8_log {

namespace {

struct StateFrame {
  std::string_view name;
  FrameKind kind = FrameKind::kNative;
};

// By the numbers of StateTag in V8's include/v8-unwinder.h: the collector is always 1.  Before 6.3 the one
// compiler was 2.
constexpr std::array<StateFrame, 5> kStates = {
    {{}, {"(garbage collector)", FrameKind::kGc}, {"(parser)"}, {"(bytecode compiler)"}, {"(compiler)"}}};
constexpr std::uint64_t kOldCompiler = 2;
constexpr std::uint64_t kCompiler = 4;

}  // namespace

std::optional<FrameId> frame_of_vm_state(Profile& profile, std::uint64_t state, bool is_old) {
  if (is_old && state == kOldCompiler) {
    state = kCompiler;
  } else if (is_old && state > kOldCompiler) {
    return std::nullopt;
  }
  if (state == 0 || state >= kStates.size()) return std::nullopt;
  Frame frame;
  frame.function = profile.strings.intern(kStates[state].name);
  frame.kind = kStates[state].kind;
  return profile.frames.intern(frame);
}

}  // namespace nodescope::v8_log
