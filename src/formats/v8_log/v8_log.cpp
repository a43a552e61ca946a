#include "formats/v8_log/v8_log.h"

#include <algorithm>
#include <array>

#include "formats/v8_log/read_log.h"
#include "json/sniff.h"

namespace nodescope {

namespace {

using std::string_view_literals::operator""sv;

// Logs begin with the version, and before Node 6 with the libraries or the first code.
bool recognise_log(std::string_view head) {
  constexpr std::array kStarts = {"v8-version,"sv, "shared-library,\""sv, "code-creation,"sv};
  return std::ranges::any_of(kStarts, [&](std::string_view start) { return head.starts_with(start); });
}

bool recognise_ticks(std::string_view head) {
  const json::Outline outline = json::outline_of(head);
  return outline.has("code[].name") && outline.has("code[].type");
}

}  // namespace

const Format kV8LogFormat = {
    .name = "v8-log",
    .extension = "",
    .description = "V8's log of node --prof (isolate0x…-v8.log)",
    .recognise = recognise_log,
    .read = v8_log::read_log,
    .write = nullptr,
};

const Format kV8TicksFormat = {
    .name = "v8-ticks",
    .extension = "",
    .description = "what node --prof-process --preprocess makes of it",
    .recognise = recognise_ticks,
    .read = v8_log::read_ticks,
    .write = nullptr,
};

}  // namespace nodescope
