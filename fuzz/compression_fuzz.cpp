#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "formats/input.h"

// Undoes what the input claims to be, up to 4 MB: a small input may stand for terabytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto content = open_content(std::make_unique<MemorySource>(input, "fuzz"));
  if (!content) {
    NODESCOPE_CHECK(!content.error().message.empty());
    return 0;
  }
  constexpr std::size_t kMost = std::size_t{4} << 20;
  std::array<std::byte, 4096> part;
  std::size_t total = 0;
  while (total < kMost) {
    const auto count = (*content)->read(part);
    NODESCOPE_CHECK(count.has_value());
    if (*count == 0) break;
    total += *count;
  }
  NODESCOPE_CHECK((*content)->head().size() <= total || total >= kMost);
  return 0;
}
