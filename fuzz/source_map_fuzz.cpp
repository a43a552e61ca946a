#include <string_view>

#include "base/check.h"
#include "capture/source_map.h"
#include "capture/source_names.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  name_of_source_map("/srv/app/dist/a.js", text);
  if (const auto inside = source_map_inside(text)) originals_without_text("/srv/app/dist/a.js", *inside);
  for (const std::string& path : originals_without_text("/srv/app/dist/a.js.map", text)) {
    NODESCOPE_CHECK(path.starts_with("/srv/app/") && ends_like_original(path));
    NODESCOPE_CHECK(!path.contains("/../") && !path.contains("/.") && !path.contains('\0'));
  }
  return 0;
}
