#include "formats/heapsnapshot/strings.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "base/text.h"

namespace nodescope {

namespace {

// The longest text that V8 can hold has half of it.
constexpr std::size_t kLongestText = std::size_t{1} << 30;

// The offset of the quote that ends the text, which begins at the start of `view`.
std::optional<std::size_t> end_of_text(std::string_view view, std::size_t from) {
  for (std::size_t i = from;;) {
    const std::size_t quote = view.find('"', i);
    if (quote == std::string_view::npos) return std::nullopt;
    std::size_t slashes = 0;
    while (slashes < quote && view[quote - slashes - 1] == '\\') ++slashes;
    if (slashes % 2 == 0) return quote;
    i = quote + 1;
  }
}

void append_utf8(std::uint32_t c, HeapStrings& strings) {
  char bytes[4];
  std::size_t size = 0;
  const auto put = [&](std::uint32_t byte) { bytes[size++] = static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
  strings.append({bytes, size});
}

// "\uXXXX" at the start of `text`.
std::optional<std::uint32_t> unicode_escape(std::string_view text) {
  constexpr std::size_t kLength = 6;
  if (text.size() < kLength || !text.starts_with("\\u")) return std::nullopt;
  return parse_number<std::uint32_t>(text.substr(2, 4), 16);
}

// Appends what the escape at the start of `text` means; its length, 0 for one that does not exist.
std::size_t append_escape(std::string_view text, HeapStrings& strings) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (text.size() < 2) return 0;
  if (const std::size_t at = kNames.find(text[1]); at != std::string_view::npos) {
    strings.append(kMeanings.substr(at, 1));
    return 2;
  }
  const auto unit = unicode_escape(text);
  if (!unit) return 0;
  if (*unit >= 0xD800 && *unit < 0xDC00) {
    const auto low = unicode_escape(text.substr(6));
    if (low && *low >= 0xDC00 && *low < 0xE000) {
      append_utf8(0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00), strings);
      return 12;
    }
  }
  append_utf8(*unit, strings);
  return 6;
}

// False when an escape was wrong and is kept as it is written.
bool append_text(std::string_view text, HeapStrings& strings) {
  bool intact = true;
  while (!text.empty()) {
    const std::size_t slash = text.find('\\');
    strings.append(text.substr(0, slash));
    if (slash == std::string_view::npos) break;
    text.remove_prefix(slash);
    std::size_t length = append_escape(text, strings);
    if (length == 0) {
      intact = false;
      strings.append(text.substr(0, 1));
      length = 1;
    }
    text.remove_prefix(length);
  }
  strings.end_text();
  return intact;
}

}  // namespace

Result<StringsRead> read_strings(TextWindow& window, HeapStrings& strings) {
  StringsRead read;
  if (!window.take('['))
    return fail(ErrorCode::kInvalidInput, fmt::format("no array at byte {}", window.offset()));
  while (true) {
    const char next = window.peek();
    if (window.view().empty()) return read;
    window.consume(1);
    if (next == ',') continue;
    if (next == ']') break;
    if (next != '"')
      return fail(ErrorCode::kInvalidInput, fmt::format("not a text at byte {}", window.offset() - 1));
    std::size_t seen = 0;
    auto end = end_of_text(window.view(), 0);
    while (!end) {
      seen = window.view().size();
      if (seen > kLongestText)
        return fail(ErrorCode::kLimit, fmt::format("a text of more than 1 GB at byte {}", window.offset()));
      if (!window.more()) return read;
      end = end_of_text(window.view(), seen);
    }
    if (!append_text(window.view().substr(0, *end), strings)) ++read.damaged;
    window.consume(*end + 1);
  }
  read.complete = true;
  return read;
}

}  // namespace nodescope
