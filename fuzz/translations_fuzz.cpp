// The first bytes are a safepoint table's header, then its entries; the rest is translations.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "v8/translations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope::v8;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto table = SafepointTable::parse(bytes, TranslationFormat::kV8_13_6)) {
    const std::string_view entries = bytes.substr(SafepointTable::kHeaderBytes);
    for (std::uint32_t offset = 0; offset < 64; ++offset) table->find_translation(entries, offset);
  }
  for (std::size_t index = 0; index < bytes.size() && index < 64; ++index) {
    parse_translation(bytes, index, TranslationFormat::kV8_12_4);
    parse_translation(bytes, index, TranslationFormat::kV8_13_6);
  }
  return 0;
}
