#include "v8/deopt_data.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "v8/objects.h"

namespace nodescope::v8 {

namespace {

constexpr std::int32_t kMaxElements = 1 << 24;
constexpr std::size_t kMaxCallBytes = std::size_t{1} << 20;  // 65,536 calls of 16 bytes

// {u64 position; i32 function; i32 padding}
constexpr std::size_t kCallBytes = 16;
constexpr std::int32_t kSelf = -1;

constexpr std::size_t kMaxTranslationBytes = std::size_t{16} << 20;
// After the inlining positions: where the exits are, how many eager and how many lazy ones.
constexpr std::int32_t kHeaderBehindPositions = 4;

std::optional<std::int32_t> length_of(Heap& heap, TaggedWord array) {
  const auto length = heap.array_length(array);
  return length && *length <= kMaxElements ? length : std::nullopt;
}

std::optional<TaggedWord> element(Heap& heap, TaggedWord array, std::int32_t length, std::int32_t index) {
  if (index < 0 || index >= length) return std::nullopt;
  return heap.field(array, 16 + std::int64_t{8} * index);
}

// The number of the translation of the call that returns to `return_address`.
std::optional<std::uint32_t> translation_of_call(Heap& heap, const Code& code, Address return_address) {
  const std::uint64_t code_offset = return_address - code.instructions().begin;
  if (code_offset > code.instructions().size_bytes()) return std::nullopt;
  // The safepoint table follows the instructions.
  const Address begin = code.instructions().end;
  std::string header(SafepointTable::kMaxHeaderBytes, '\0');
  if (!heap.memory().read(begin, std::as_writable_bytes(std::span(header)))) return std::nullopt;
  const auto format = safepoint_format(heap.layout().version, code.tier() == Tier::kMaglev);
  const auto table = SafepointTable::parse(header, format);
  if (!table) return std::nullopt;
  std::string entries(table->entries_bytes(), '\0');
  if (!heap.memory().read(begin + table->header_bytes, std::as_writable_bytes(std::span(entries))))
    return std::nullopt;
  return table->find_translation(entries, static_cast<std::uint32_t>(code_offset));
}

}  // namespace

std::optional<DeoptData> DeoptData::load(Heap& heap, const Code& code) {
  const Layout& layout = heap.layout();
  const TaggedWord array = code.deopt();
  const auto length = length_of(heap, array);
  if (!length) return std::nullopt;
  auto shared = element(heap, array, *length, layout.deopt_shared.value);
  const auto literals = element(heap, array, *length, layout.deopt_literals.value);
  const auto calls = element(heap, array, *length, layout.deopt_positions.value);
  if (!shared || !literals || !calls) return std::nullopt;
  if (heap.is(*shared, layout.type_shared_wrapper)) shared = heap.field(*shared, 8);
  if (!shared || !heap.is(*shared, layout.type_shared)) return std::nullopt;
  DeoptData data;
  data.array_ = array;
  data.length_ = *length;
  data.shared_ = *shared;
  data.literals_ = *literals;
  data.literal_count_ = length_of(heap, *literals).value_or(0);
  data.calls_ = heap.load_bytes(*calls, kMaxCallBytes).value_or("");
  return data;
}

std::optional<InlinedCall> DeoptData::inlined_call(Heap& heap, std::int32_t inlining_id) const {
  if (inlining_id < 0 || (static_cast<std::size_t>(inlining_id) + 1) * kCallBytes > calls_.size())
    return std::nullopt;
  const char* entry = calls_.data() + static_cast<std::size_t>(inlining_id) * kCallBytes;
  InlinedCall call;
  std::int32_t function = 0;
  std::memcpy(&call.caller.value, entry, sizeof call.caller.value);
  std::memcpy(&function, entry + sizeof call.caller.value, sizeof function);
  call.shared = shared_;
  if (function == kSelf) return call;
  const auto literal = shared_literal(heap, function);
  if (!literal) return std::nullopt;
  call.shared = *literal;
  return call;
}

std::optional<TaggedWord> DeoptData::shared_literal(Heap& heap, std::int32_t index) const {
  const auto literal = element(heap, literals_, literal_count_, index);
  if (!literal || !heap.is(literal->strong(), heap.layout().type_shared)) return std::nullopt;
  return literal->strong();
}

std::vector<TaggedWord> DeoptData::closures_of(Heap& heap, TaggedWord shared) const {
  constexpr std::int32_t kMaxLiterals = 4096;
  std::vector<TaggedWord> closures;
  for (std::int32_t i = 0; i < std::min(literal_count_, kMaxLiterals); ++i) {
    const auto literal = element(heap, literals_, literal_count_, i);
    if (!literal || shared_of_function(heap, literal->strong()) != shared) continue;
    if (std::ranges::find(closures, literal->strong()) == closures.end())
      closures.push_back(literal->strong());
  }
  return closures;
}

std::optional<std::vector<TranslatedFrame>> DeoptData::active_frames(Heap& heap, const Code& code,
                                                                     Address return_address) const {
  const Layout& layout = heap.layout();
  const auto format = translation_format(layout.version);
  if (!format || !layout.is_known_version()) return std::nullopt;
  const auto number = translation_of_call(heap, code, return_address);
  if (!number || *number > static_cast<std::uint32_t>(kMaxElements)) return std::nullopt;
  // Behind the header: for each its bytecode offset, the place of its translation, its pc.
  const std::int64_t entry =
      std::int64_t{layout.deopt_positions.value} + kHeaderBehindPositions + std::int64_t{3} * *number;
  if (entry + 1 >= length_) return std::nullopt;
  const auto index = element(heap, array_, length_, static_cast<std::int32_t>(entry + 1));
  const auto translations = element(heap, array_, length_, 0);
  if (!index || !index->is_smi() || index->smi() < 0 || !translations) return std::nullopt;
  const auto bytes = heap.load_bytes(*translations, kMaxTranslationBytes);
  return bytes ? parse_translation(*bytes, static_cast<std::size_t>(index->smi()), *format) : std::nullopt;
}

}  // namespace nodescope::v8
