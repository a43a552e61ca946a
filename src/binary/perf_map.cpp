#include "binary/perf_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <queue>

#include "base/text.h"

namespace nodescope {

namespace {

// A hexadecimal number at the front of `text`, with or without "0x", and the space behind it; removes both.
std::optional<std::uint64_t> take_hex(std::string_view& text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end == text.data() + text.size() || *end != ' ') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return value;
}

std::string_view line_at(std::string_view text, std::size_t offset) {
  const void* end = std::memchr(text.data() + offset, '\n', text.size() - offset);
  if (end == nullptr) return text.substr(offset);
  return {text.data() + offset, static_cast<const char*>(end)};
}

}  // namespace

std::optional<PerfMapLine> parse_perf_map_line(std::string_view line) {
  const auto begin = take_hex(line);
  const auto size = begin ? take_hex(line) : std::nullopt;
  if (!size || *size > std::numeric_limits<std::uint32_t>::max() || *begin + *size < *begin)
    return std::nullopt;
  if (line.empty()) return std::nullopt;
  return PerfMapLine{{Address{*begin}, Address{*begin + *size}}, line};
}

Result<PerfMap> PerfMap::read(std::unique_ptr<ByteSource> source, Diagnostics& diagnostics) {
  auto storage = std::make_unique<std::string>();
  const auto bytes = read_whole(*source, *storage, kMaxBytes);
  if (!bytes) return std::unexpected(bytes.error());
  PerfMap map = parse(as_text(*bytes), diagnostics);
  map.source_ = std::move(source);
  map.storage_ = std::move(storage);
  return map;
}

PerfMap PerfMap::parse(std::string_view text, Diagnostics& diagnostics) {
  PerfMap map;
  map.text_ = text.substr(0, kMaxBytes);
  map.pieces_ = resolve_overlaps(parse_lines(map.text_, diagnostics));
  return map;
}

std::vector<PerfMap::Piece> PerfMap::parse_lines(std::string_view text, Diagnostics& diagnostics) {
  std::vector<Piece> lines;
  std::size_t number = 0;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::string_view line = line_at(text, offset);
    ++number;
    if (const auto parsed = parse_perf_map_line(line)) {
      const auto name = static_cast<std::uint32_t>(parsed->name.data() - text.data());
      const auto size_bytes = static_cast<std::uint32_t>(parsed->range.size_bytes());
      if (size_bytes != 0) lines.push_back({parsed->range.begin.value, size_bytes, name});
    } else if (!line.empty()) {
      diagnostics.warn("line of a perf map not understood",
                       fmt::format("line {}: {}", number, printable(line.substr(0, 80))));
    }
    offset += line.size() + 1;
  }
  return lines;
}

// A sweep over the addresses.  Of the lines that cover the current address the newest is at the top of
// `open`.
std::vector<PerfMap::Piece> PerfMap::resolve_overlaps(std::vector<Piece> lines) {
  std::ranges::sort(lines, {}, &Piece::begin);
  const auto older = [](const Piece& a, const Piece& b) { return a.name < b.name; };
  std::priority_queue<Piece, std::vector<Piece>, decltype(older)> open(older);
  std::vector<Piece> pieces;
  pieces.reserve(lines.size());
  std::uint64_t address = 0;
  std::size_t next = 0;
  while (next < lines.size() || !open.empty()) {
    if (open.empty()) address = lines[next].begin;
    while (next < lines.size() && lines[next].begin <= address) open.push(lines[next++]);
    const Piece newest = open.top();
    if (newest.end() <= address) {
      open.pop();
      continue;
    }
    const std::uint64_t end = next < lines.size() ? std::min(newest.end(), lines[next].begin) : newest.end();
    if (!pieces.empty() && pieces.back().name == newest.name && pieces.back().end() == address) {
      pieces.back().size_bytes += static_cast<std::uint32_t>(end - address);
    } else {
      pieces.push_back({address, static_cast<std::uint32_t>(end - address), newest.name});
    }
    address = end;
  }
  return pieces;
}

std::optional<std::string_view> PerfMap::find(Address address) const {
  const auto next = std::ranges::upper_bound(pieces_, address.value, {}, &Piece::begin);
  if (next == pieces_.begin()) return std::nullopt;
  const Piece& piece = *std::prev(next);
  if (address.value >= piece.end()) return std::nullopt;
  return line_at(text_, piece.name);
}

}  // namespace nodescope
