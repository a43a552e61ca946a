#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "formats/symbol_name.h"

// A symbol, and behind the first '\n' its module.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view symbol = text.substr(0, end);
  Profile profile;
  const Frame frame = frame_of_symbol(profile, symbol, text.substr(std::min(end + 1, size)));
  NODESCOPE_CHECK(profile.text(frame.function).size() <= symbol.size() + 2);
  NODESCOPE_CHECK(profile.text(frame.file).size() <= symbol.size());
  const std::string written = symbol_of_frame(profile, frame);
  NODESCOPE_CHECK(!written.empty());
  (void)frame_of_symbol(profile, written, "");
  return 0;
}
