#include "formats/heapsnapshot/integers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <string_view>

namespace nodescope {

namespace {

constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();
// Of 2^64 - 1; what has more is no number of V8's.
constexpr std::ptrdiff_t kMostDigits = 20;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

struct Parsed {
  const char* end = nullptr;  // null: no integer
  std::uint64_t value = 0;
};

Parsed parse_integer(const char* p, const char* end) {
  while (p != end && is_space(*p)) ++p;
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  const char* const begin = p;
  std::uint64_t value = 0;
  for (; p != end; ++p) {
    const auto digit = static_cast<std::uint8_t>(*p - '0');
    if (digit > 9) break;
    value = value * 10 + digit;
  }
  if (p == begin || p - begin >= kMostDigits) return {};
  while (p != end && is_space(*p)) ++p;
  return {p, negative ? std::uint64_t{0} - value : value};
}

// A part of the array, cut behind a comma or at the array's end.
struct Piece {
  std::string_view text;
  std::uint64_t first = 0;  // the number of its first value
  std::uint64_t count = 0;
};

// Where the text is not a list of `count` integers, as an offset in it.
std::uint64_t parse_piece(const Piece& piece, IntegerSink& sink) {
  constexpr std::size_t kBatch = 4096;
  std::array<std::uint64_t, kBatch> batch;
  std::size_t filled = 0;
  std::uint64_t stored = 0;
  const char* p = piece.text.data();
  const char* const end = p + piece.text.size();
  while (stored + filled < piece.count) {
    const Parsed parsed = parse_integer(p, end);
    if (parsed.end == nullptr || (parsed.end != end && *parsed.end != ','))
      return static_cast<std::uint64_t>(p - piece.text.data());
    p = parsed.end == end ? end : parsed.end + 1;
    batch[filled++] = parsed.value;
    if (filled == kBatch) {
      sink.store(piece.first + stored, batch);
      stored += filled;
      filled = 0;
    }
  }
  if (filled != 0) sink.store(piece.first + stored, std::span(batch).first(filled));
  return kNowhere;
}

}  // namespace

Result<std::uint64_t> read_integers(TextWindow& window, JobQueue& jobs, IntegerSink& sink) {
  if (!window.take('['))
    return fail(ErrorCode::kInvalidInput, fmt::format("no array at byte {}", window.offset()));
  std::atomic<std::uint64_t> bad = kNowhere;
  std::uint64_t total = 0;
  bool cut = false;
  while (!cut) {
    window.fill();
    const std::string_view view = window.view();
    const std::size_t close = view.find(']');
    const bool last = close != std::string_view::npos;
    const std::size_t size = last ? close : view.rfind(',') + 1;
    if (!last && size == 0) {
      cut = !window.more();
      continue;
    }
    const std::string_view text = view.substr(0, size);
    const auto commas = static_cast<std::uint64_t>(std::ranges::count(text, ','));
    const bool blank = last && std::ranges::all_of(text, is_space);
    // A comma at the very end was that of the piece before.
    const Piece piece{text, total, last && !blank ? commas + 1 : commas};
    total += piece.count;
    jobs.add([piece, offset = window.offset(), owner = window.owner(), &sink, &bad] {
      const std::uint64_t at = parse_piece(piece, sink);
      if (at == kNowhere) return;
      std::uint64_t known = bad;
      while (offset + at < known && !bad.compare_exchange_weak(known, offset + at)) {
      }
    });
    window.consume(last ? size + 1 : size);
    if (last) break;
  }
  jobs.wait();
  if (!window.status()) return std::unexpected(window.status().error());
  if (bad != kNowhere)
    return fail(ErrorCode::kInvalidInput, fmt::format("not an integer at byte {}", bad.load()));
  if (cut) return fail(ErrorCode::kInvalidInput, "the file ends in the middle");
  return total;
}

}  // namespace nodescope
