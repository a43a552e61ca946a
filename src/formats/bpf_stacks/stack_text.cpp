#include "formats/bpf_stacks/stack_text.h"

#include <algorithm>

#include "formats/folded/folded_annotation.h"
#include "formats/perf_script/frame_line.h"
#include "formats/symbol_name.h"

namespace nodescope::bpf {

namespace {

// "main+12", "main+0x1f"
std::string_view without_offset(std::string_view symbol) {
  const std::size_t plus = symbol.rfind('+');
  if (plus == std::string_view::npos || plus == 0 || plus + 1 == symbol.size()) return symbol;
  std::string_view offset = symbol.substr(plus + 1);
  if (offset.starts_with("0x")) offset.remove_prefix(2);
  const bool is_number =
      !offset.empty() && offset.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_number ? symbol.substr(0, plus) : symbol;
}

bool is_address(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return text.size() >= 4 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r";
  text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
  return text.substr(std::min(text.find_first_not_of(kSpaces), text.size()));
}

Frame frame_of_line(Profile& profile, std::string_view line) {
  const std::string_view text = trim(line);
  const auto as_perf = parse_frame_line(text);
  if (as_perf && !as_perf->module.empty())
    return frame_of_symbol(profile, as_perf->symbol, as_perf->module == "[unknown]" ? "" : as_perf->module);
  if (is_address(text) || text == "[unknown]") return {};
  return frame_of_annotated_name(profile, without_offset(text));
}

ThreadId thread_of(Profile& profile, std::string_view comm, std::int32_t pid) {
  if (comm.empty() && pid == 0) return {};
  return profile.intern_thread(profile.intern_process(pid, comm), pid, comm);
}

StackId stack_of(Profile& profile, const std::vector<FrameId>& frames) {
  StackId stack = kEmptyStack;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
    stack = profile.stacks.push(stack, *frame);
  return stack;
}

}  // namespace nodescope::bpf
