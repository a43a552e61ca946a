#include "source_maps/text_places.h"

namespace nodescope {

namespace {

// The bytes of an end of a line at `at`; 0 if there is none.  LF, CR, CR LF, U+2028 and U+2029, as V8 has it.
std::size_t line_end_bytes(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '\n') return 1;
  if (c == '\r') return at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
  if (c != '\xE2') return 0;
  const std::string_view rest = text.substr(at, 3);
  return rest == "\xE2\x80\xA8" || rest == "\xE2\x80\xA9" ? 3 : 0;
}

// Of the character that a byte begins; 0 within one.
std::uint32_t utf16_units(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x80) return 1;
  if (byte < 0xC0) return 0;
  return byte < 0xF0 ? 1 : 2;
}

// Goes through a text once: calls visit(offset, place) for each character and each end of a line, until it
// returns false.
template <typename Visit>
void visit_places(std::string_view text, Visit&& visit) {
  TextPlace place{1, 1};
  for (std::size_t at = 0; at < text.size();) {
    if (!visit(at, place)) return;
    const char c = text[at];
    const bool may_end_line = c == '\n' || c == '\r' || c == '\xE2';
    const std::size_t end = may_end_line ? line_end_bytes(text, at) : 0;
    if (end != 0) {
      ++place.line;
      place.column = 1;
      at += end;
      continue;
    }
    place.column += utf16_units(c);
    for (++at; at < text.size() && utf16_units(text[at]) == 0; ++at) {
    }
  }
  visit(text.size(), place);
}

}  // namespace

std::vector<std::uint32_t> line_lengths(std::string_view text) {
  std::vector<std::uint32_t> lengths;
  TextPlace last{1, 1};
  visit_places(text, [&](std::size_t, TextPlace place) {
    if (place.line != last.line) lengths.push_back(last.column - 1);
    last = place;
    return true;
  });
  lengths.push_back(last.column - 1);
  return lengths;
}

std::vector<std::optional<std::size_t>> offsets_of(std::string_view text, std::span<const TextPlace> places) {
  std::vector<std::optional<std::size_t>> offsets(places.size());
  std::size_t next = 0;
  visit_places(text, [&](std::size_t offset, TextPlace place) {
    // What was passed is beyond its line.
    while (next < places.size() && places[next] < place) ++next;
    while (next < places.size() && places[next] == place) offsets[next++] = offset;
    return next < places.size();
  });
  return offsets;
}

std::vector<TextPlace> places_of(std::string_view text, std::span<const std::size_t> offsets) {
  std::vector<TextPlace> places;
  TextPlace last{1, 1};
  visit_places(text, [&](std::size_t offset, TextPlace place) {
    while (places.size() < offsets.size() && offsets[places.size()] < offset) places.push_back(last);
    last = place;
    return places.size() < offsets.size();
  });
  places.resize(offsets.size(), last);
  return places;
}

}  // namespace nodescope
