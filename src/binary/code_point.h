#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nodescope {

// Unicode characters without the surrogates.
inline bool is_scalar_value(std::uint64_t code_point) {
  return code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
}

void append_utf8(std::string& out, std::uint32_t c);

// An identifier of Rust with characters outside of ASCII: RFC 3492, with '_' in place of '-' before the
// deltas.
std::optional<std::string> decode_punycode(std::string_view text);

}  // namespace nodescope
