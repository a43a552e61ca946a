#include "formats/profile_json/profile_json.h"

#include "formats/profile_json/profile_json_io.h"
#include "json/sniff.h"

namespace nodescope {

namespace {

bool recognise_profile_json(std::string_view head) {
  return json::outline_of(head).has_text("format", kProfileJsonName);
}

}  // namespace

const Format kProfileJsonFormat = {
    .name = "json",
    .extension = ".json",
    .description = "the whole profile as JSON, for other programs",
    .recognise = recognise_profile_json,
    .read = read_profile_json,
    .write = write_profile_json,
};

}  // namespace nodescope
