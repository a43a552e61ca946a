#include "v8/strings.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace nodescope::v8 {

namespace {

// Representation and encoding are bits of the instance type of a string.
enum Representation : int { kSequential = 0, kCons = 1, kExternal = 2, kSliced = 3, kThin = 5 };
constexpr int kRepresentationMask = 7;
constexpr int kOneByteBit = 8;
constexpr int kUncachedBit = 16;  // an external string that does not know where its characters are

// The same in every version, and in its metadata.
constexpr int kLength = 12;
constexpr int kCharacters = 16;
constexpr int kFirst = 16;  // of a cons string; the parent or the actual string of the others
constexpr int kSecond =
    24;  // of a cons string; the offset of a sliced one; the characters of an external one

// Strings within strings that are followed for one string.  A rope of a million pieces is not a name.
constexpr std::size_t kMaxPieces = 65536;

void append_utf8(std::string& text, std::uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
    return;
  }
  if (point < 0x800) {
    text += static_cast<char>(0xC0 | (point >> 6));
  } else {
    if (point < 0x10000) {
      text += static_cast<char>(0xE0 | (point >> 12));
    } else {
      text += static_cast<char>(0xF0 | (point >> 18));
      text += static_cast<char>(0x80 | ((point >> 12) & 0x3F));
    }
    text += static_cast<char>(0x80 | ((point >> 6) & 0x3F));
  }
  text += static_cast<char>(0x80 | (point & 0x3F));
}

bool is_high_surrogate(char16_t unit) {
  return (unit & 0xFC00) == 0xD800;
}
bool is_low_surrogate(char16_t unit) {
  return (unit & 0xFC00) == 0xDC00;
}

// Characters from `begin` on, `count` of them, of the string `word`.
struct Piece {
  TaggedWord word;
  std::uint64_t begin = 0;
  std::uint64_t count = 0;
};

class Flattener {
 public:
  explicit Flattener(Heap& heap) : heap_(heap) {}

  std::optional<FlatString> flatten(TaggedWord word, std::uint64_t count) {
    pending_.push_back({word, 0, count});
    for (std::size_t steps = 0; !pending_.empty(); ++steps) {
      const Piece piece = pending_.back();
      pending_.pop_back();
      if (steps == kMaxPieces || !expand(piece)) return std::nullopt;
    }
    return std::move(flat_);
  }

 private:
  std::optional<std::size_t> length_of(TaggedWord word) { return string_length(heap_, word); }

  bool expand(const Piece& piece) {
    if (piece.count == 0) return true;
    const auto length = length_of(piece.word);
    if (!length || piece.begin > *length || piece.count > *length - piece.begin) return false;
    const int type = heap_.type(piece.word);
    switch (type & kRepresentationMask) {
      case kSequential:
        return copy(piece, piece.word.address() + kCharacters, type);
      case kExternal: {
        const auto characters = heap_.memory().load<std::uint64_t>(piece.word.address() + kSecond);
        return characters && (type & kUncachedBit) == 0 && copy(piece, Address{*characters}, type);
      }
      case kCons:
        return expand_cons(piece);
      case kSliced: {
        const auto parent = heap_.field(piece.word, kFirst);
        const auto offset = heap_.field(piece.word, kSecond);
        if (!parent || !offset || !offset->is_smi() || offset->smi() < 0) return false;
        pending_.push_back({*parent, piece.begin + static_cast<std::uint64_t>(offset->smi()), piece.count});
        return true;
      }
      case kThin: {
        const auto actual = heap_.field(piece.word, kFirst);
        if (actual) pending_.push_back({*actual, piece.begin, piece.count});
        return actual.has_value();
      }
      default:
        return false;
    }
  }

  bool expand_cons(const Piece& piece) {
    const auto first = heap_.field(piece.word, kFirst);
    const auto second = heap_.field(piece.word, kSecond);
    if (!first || !second) return false;
    const auto first_length = length_of(*first);
    if (!first_length) return false;
    const std::uint64_t in_first =
        piece.begin < *first_length ? std::min<std::uint64_t>(piece.count, *first_length - piece.begin) : 0;
    const std::uint64_t skipped = piece.begin > *first_length ? piece.begin - *first_length : 0;
    pending_.push_back({*second, skipped, piece.count - in_first});
    pending_.push_back({*first, piece.begin, in_first});
    return true;
  }

  bool copy(const Piece& piece, Address characters, int type) {
    if ((type & kOneByteBit) != 0) {
      std::string bytes(piece.count, '\0');
      if (!heap_.memory().read(characters + piece.begin, std::as_writable_bytes(std::span(bytes))))
        return false;
      flat_.append_latin1(bytes);
      return true;
    }
    std::u16string units(piece.count, u'\0');
    if (!heap_.memory().read(characters + 2 * piece.begin, std::as_writable_bytes(std::span(units))))
      return false;
    flat_.append_utf16(units);
    return true;
  }

  Heap& heap_;
  std::vector<Piece> pending_;  // the next one last
  FlatString flat_;
};

}  // namespace

void FlatString::append_latin1(const std::string& bytes) {
  if (!wide_) {
    bytes_ += bytes;
    return;
  }
  for (const char byte : bytes) units_ += static_cast<char16_t>(static_cast<unsigned char>(byte));
}

void FlatString::append_utf16(const std::u16string& units) {
  if (!wide_) {
    wide_ = true;
    append_latin1(std::exchange(bytes_, {}));
  }
  units_ += units;
}

// A surrogate without its partner becomes U+FFFD.
std::string FlatString::to_utf8() const {
  std::string text;
  text.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const char16_t unit = (*this)[i];
    if (is_high_surrogate(unit) && i + 1 < size() && is_low_surrogate((*this)[i + 1])) {
      append_utf8(text, 0x10000u + ((unit & 0x3FFu) << 10) + ((*this)[++i] & 0x3FFu));
    } else {
      append_utf8(text, is_high_surrogate(unit) || is_low_surrogate(unit) ? 0xFFFDu : unit);
    }
  }
  return text;
}

std::optional<std::size_t> string_length(Heap& heap, TaggedWord word) {
  if (!heap.is_string(word)) return std::nullopt;
  return heap.memory().load<std::uint32_t>(word.address() + kLength);
}

std::optional<FlatString> load_string(Heap& heap, TaggedWord word, std::size_t limit) {
  const auto length = string_length(heap, word);
  if (!length || *length > limit) return std::nullopt;
  return Flattener(heap).flatten(word, *length);
}

std::optional<FlatString> load_string_prefix(Heap& heap, TaggedWord word, std::size_t count) {
  const auto length = string_length(heap, word);
  if (!length) return std::nullopt;
  return Flattener(heap).flatten(word, std::min(*length, count));
}

std::optional<std::string> load_name(Heap& heap, TaggedWord word) {
  const auto string = load_string(heap, word, kMaxNameUnits);
  return string ? std::optional(string->to_utf8()) : std::nullopt;
}

}  // namespace nodescope::v8
