#include "v8/heap.h"

namespace nodescope::v8 {

namespace {

// A process has some ten thousand maps; a search through code asks for many words that are none.
constexpr std::size_t kMaxKnownMaps = 1 << 20;

}  // namespace

std::optional<int> Heap::instance_type_at(TaggedWord map) {
  const auto type = memory_.load<std::uint16_t>(map.address() +
                                                static_cast<std::uint64_t>(layout_.map_instance_type.value));
  return type ? std::optional<int>(*type) : std::nullopt;
}

int Heap::type_of_map(TaggedWord map) {
  if (!map.is_object()) return -1;
  const auto known = types_by_map_.find(map.value);
  if (known != types_by_map_.end()) return known->second;
  int type = -1;
  const auto meta_map = word(map.address());
  if (meta_map && meta_map->is_object() && instance_type_at(*meta_map) == layout_.type_map.value)
    type = instance_type_at(map).value_or(-1);
  if (types_by_map_.size() >= kMaxKnownMaps) types_by_map_.clear();
  types_by_map_.emplace(map.value, type);
  return type;
}

// In place of the map there is then the new address, without a tag (src/objects/objects.h, MapWord).  A
// second collection may have moved it again.
TaggedWord Heap::moved(TaggedWord object) {
  constexpr int kMaxMoves = 3;
  constexpr std::uint64_t kAlignment = 7;
  for (int move = 0; move < kMaxMoves && object.is_object(); ++move) {
    const auto word = this->word(object.address());
    if (!word || word->is_smi() || (word->value & kAlignment) != 0) break;
    object = TaggedWord{word->value + 1};
  }
  return object;
}

bool Heap::is_young(TaggedWord object) {
  constexpr std::uint64_t kPageBytes = 256 * 1024;
  constexpr std::uint64_t kFromOrToPage = 3 << 3;  // of the semispaces
  if (!layout_.is_known_version()) return true;
  const Address page{object.address().value & ~(kPageBytes - 1)};
  const auto flags = word(page + static_cast<std::uint64_t>(layout_.page_flags.value));
  return !flags || (flags->value & kFromOrToPage) != 0;
}

std::optional<TaggedWord> Heap::map(TaggedWord object) {
  if (!object.is_object()) return std::nullopt;
  const auto map = word(object.address());
  return map && type_of_map(*map) >= 0 ? map : std::nullopt;
}

int Heap::type(TaggedWord object) {
  if (!object.is_object()) return -1;
  const auto map = word(object.address());
  return map ? type_of_map(*map) : -1;
}

std::optional<std::int32_t> Heap::array_length(TaggedWord array) {
  if (type(array) < layout_.type_first_nonstring.value) return std::nullopt;
  const auto length = field(array, 8);
  if (!length || !length->is_smi() || length->smi() < 0) return std::nullopt;
  return length->smi();
}

std::optional<std::string> Heap::load_bytes(TaggedWord array, std::size_t limit) {
  if (!is(array, layout_.type_byte_array) && !is(array, layout_.type_trusted_byte_array)) return std::nullopt;
  const auto length = array_length(array);
  if (!length || static_cast<std::size_t>(*length) > limit) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(*length), '\0');
  if (!memory_.read(array.address() + 16, std::as_writable_bytes(std::span(bytes)))) return std::nullopt;
  return bytes;
}

}  // namespace nodescope::v8
