#include "formats/folded/folded_annotation.h"

#include "base/path.h"
#include "formats/symbol_name.h"
#include "model/name_marks.h"

namespace nodescope {

namespace {

bool take_mark(std::string_view& text, std::string_view mark) {
  if (!text.ends_with(mark)) return false;
  text.remove_suffix(mark.size());
  return true;
}

bool is_jit_module(std::string_view module) {
  if (module == kJitModule) return true;
  const std::string_view base = file_name_of(module);
  return base.starts_with("perf-") && base.ends_with(".map");
}

bool is_v8_code(FrameKind kind) {
  return kind == FrameKind::kJs || kind == FrameKind::kRegExp || kind == FrameKind::kWasm;
}

std::string_view mark_of(const Profile& profile, const Frame& frame, const WriteOptions& options) {
  if (frame.inlined) return kInlinedMark;
  if (frame.kind == FrameKind::kKernel) return options.mark_kernel ? kKernelMark : "";
  if (!options.mark_jit) return {};
  return is_v8_code(frame.kind) || is_jit_module(profile.text(frame.module)) ? kJitMark : "";
}

// A frame without a name is called by its module, as stackcollapse-perf.pl does.
std::string name_of(const Profile& profile, const Frame& frame) {
  const std::string_view module = profile.text(frame.module);
  const bool may_lack_name = frame.kind == FrameKind::kUnknown || frame.kind == FrameKind::kKernel ||
                             frame.kind == FrameKind::kNative;
  const bool has_name = !may_lack_name || frame.function != StringId{};
  if (has_name || module.empty() || module == "[unknown]") return symbol_of_frame(profile, frame);
  return "[" + std::string(file_name_of(module)) + "]";
}

}  // namespace

Frame frame_of_annotated_name(Profile& profile, std::string_view text) {
  const bool inlined = take_mark(text, kInlinedMark);
  const bool kernel = !inlined && take_mark(text, kKernelMark);
  const bool jit = !inlined && !kernel && take_mark(text, kJitMark);
  Frame frame = frame_of_symbol(profile, text, {}, inlined);
  // Plain text does not say what it is: it may as well be Java, or a process.
  if (frame.kind == FrameKind::kNative) frame.kind = FrameKind::kUnknown;
  if (kernel) {
    frame = {};
    frame.function = profile.strings.intern(text);
    frame.kind = FrameKind::kKernel;
  }
  if (jit && !is_v8_code(frame.kind)) frame.module = profile.strings.intern(kJitModule);
  return frame;
}

std::string folded_name(const Profile& profile, const Frame& frame, const WriteOptions& options) {
  return one_folded_name(name_of(profile, frame)).append(mark_of(profile, frame, options));
}

std::string one_folded_name(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (c == ';') c = ':';
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
  }
  return name;
}

}  // namespace nodescope
