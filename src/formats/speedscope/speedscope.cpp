#include "formats/speedscope/speedscope.h"

#include "formats/speedscope/speedscope_io.h"
#include "json/sniff.h"

namespace nodescope {

namespace {

bool recognise_speedscope(std::string_view head) {
  const json::Outline outline = json::outline_of(head);
  if (outline.has_text("$schema", "speedscope") || outline.has("shared.frames")) return true;
  return outline.has("profiles[].type") && outline.has("profiles[].unit");
}

}  // namespace

const Format kSpeedscopeFormat = {
    .name = "speedscope",
    .extension = ".speedscope.json",
    .description = "speedscope's own format",
    .recognise = recognise_speedscope,
    .read = read_speedscope,
    .write = write_speedscope,
};

}  // namespace nodescope
