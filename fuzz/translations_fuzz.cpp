// The first bytes are a safepoint table's header, then its entries; the rest is translations.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "v8/translations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope::v8;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto format :
       {SafepointFormat::kWords, SafepointFormat::kPacked, SafepointFormat::kPackedWithSlots,
        SafepointFormat::kMaglev, SafepointFormat::kMaglevWithSlots}) {
    const auto table = SafepointTable::parse(bytes, format);
    if (!table) continue;
    const std::string_view entries = bytes.substr(table->header_bytes);
    for (std::uint32_t offset = 0; offset < 64; ++offset) table->find_translation(entries, offset);
  }
  for (const auto format :
       {TranslationFormat::kV8_9_0, TranslationFormat::kV8_10_8, TranslationFormat::kV8_11_3,
        TranslationFormat::kV8_11_8, TranslationFormat::kV8_12_9, TranslationFormat::kV8_13_6}) {
    for (std::size_t index = 0; index < bytes.size() && index < 64; ++index)
      parse_translation(bytes, index, format);
  }
  return 0;
}
