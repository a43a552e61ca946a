#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nodescope {

// Longer names are cut in a drawing: nobody reads further, and a name is repeated in every one of its boxes.
constexpr std::size_t kMaxXmlNameBytes = 2'000;

// Appends `text`, which may be anything, so that it is only text in an XML 1.0 document: as content or inside
// an attribute's quotes.  Markup is escaped.  Bytes that are not UTF-8 and characters that XML forbids become
// U+FFFD, control characters their visible pictures, and marks that change the direction of what follows
// their code, "\u{202e}".
void append_xml_text(std::string& out, std::string_view text);

// The same, of at most `max_bytes` of `text` and with its true length where it was cut.
void append_xml_name(std::string& out, std::string_view text, std::size_t max_bytes = kMaxXmlNameBytes);

// The same for the inside of a comment, where "--" is forbidden.
void append_xml_comment(std::string& out, std::string_view text);

}  // namespace nodescope
