#include "formats/perf_script/frame_line.h"

#include <algorithm>

#include "base/text.h"
#include "formats/symbol_name.h"

namespace nodescope {

namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kSpaces = " \t\r";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::uint64_t kFirstKernelAddress = 0xFFFF'8000'0000'0000u;

std::string_view trim(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
  return text.substr(std::min(text.find_first_not_of(kSpaces), text.size()));
}

// "foo+0x1f" -> "foo"
std::string_view without_offset(std::string_view symbol) {
  constexpr std::string_view kPlus = "+0x";
  const std::size_t before_digits = symbol.find_last_not_of(kHexDigits) + 1;
  if (before_digits == symbol.size() || !symbol.substr(0, before_digits).ends_with(kPlus)) return symbol;
  return symbol.substr(0, before_digits - kPlus.size());
}

// Where the module's parenthesis opens in "symbol (module)".  Both may hold parentheses: "(/memfd:x
// (deleted))".
std::size_t find_module(std::string_view text) {
  if (!text.ends_with(')')) return kNone;
  std::size_t depth = 0;
  for (std::size_t i = text.size(); i-- != 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] != '(' || --depth != 0) continue;
    const bool stands_alone = i == 0 || text[i - 1] == ' ';
    // What a demangler calls a clone: "foo(int) (.cold)".
    if (stands_alone && !text.substr(i + 1).starts_with('.')) return i;
    break;
  }
  // The parentheses do not match: the last one that opens with a path or a bracket.
  const std::size_t last = std::max(text.rfind(" (/") + 1, text.rfind(" ([") + 1);
  return last == 0 ? kNone : last;
}

constexpr std::string_view kInlined = " (inlined)";

// "file.c:12 (discriminator 3) (inlined)" -> "file.c:12".  Of what is not known perf prints
// "libc.so.6[27b25]" or "??:0".
void add_source(Profile& profile, std::string_view line, Frame& frame) {
  if (line.ends_with(kInlined)) line.remove_suffix(kInlined.size());
  line = line.substr(0, line.find(" (discriminator "));
  const std::size_t colon = line.rfind(':');
  if (colon == kNone || frame.file != StringId{} || line.starts_with("??")) return;
  const auto number = parse_number<std::uint32_t>(line.substr(colon + 1));
  if (!number) return;
  frame.file = profile.strings.intern(line.substr(0, colon));
  frame.line = *number;
}

}  // namespace

std::optional<FrameLine> parse_frame_line(std::string_view line) {
  std::string_view text = trim(line);
  const std::size_t digits = std::min(text.find_first_not_of(kHexDigits), text.size());
  const auto address = parse_hex(text.substr(0, digits));
  if (!address || (digits < text.size() && text[digits] != ' ')) return std::nullopt;
  FrameLine frame;
  frame.address = *address;
  text = trim(text.substr(digits));
  const std::size_t module = find_module(text);
  frame.symbol = without_offset(trim(text.substr(0, module)));
  if (module != kNone) frame.module = text.substr(module + 1, text.size() - module - 2);
  if (frame.module == "inlined") {
    frame.inlined = true;
    frame.module = {};
  }
  return frame;
}

bool is_source_line(std::string_view line) {
  return line.size() > 2 && line[0] == ' ' && line[1] == ' ' && kSpaces.find(line[2]) == kNone;
}

std::optional<Frame> frame_of_lines(Profile& profile, std::string_view text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const auto line = parse_frame_line(text.substr(0, end));
  if (!line) return std::nullopt;
  const std::string_view source = trim(text.substr(std::min(end + 1, text.size())));
  const bool inlined = line->inlined || source.ends_with(kInlined);
  const std::string_view module = line->module == "[unknown]" ? std::string_view() : line->module;
  Frame frame = frame_of_symbol(profile, line->symbol, module, inlined);
  // An inlined frame names no module.
  const bool has_symbol = frame.kind != FrameKind::kUnknown;
  if (inlined && has_symbol && line->address >= kFirstKernelAddress) frame.kind = FrameKind::kKernel;
  add_source(profile, source, frame);
  return frame;
}

}  // namespace nodescope
