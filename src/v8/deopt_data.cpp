#include "v8/deopt_data.h"

#include <cstring>

namespace nodescope::v8 {

namespace {

constexpr std::int32_t kMaxElements = 1 << 24;
constexpr std::size_t kMaxCallBytes = std::size_t{1} << 20;  // 65,536 calls of 16 bytes

// {u64 position; i32 function; i32 padding}
constexpr std::size_t kCallBytes = 16;
constexpr std::int32_t kSelf = -1;

// The length of something laid out like a FixedArray; its type has had several names.
std::optional<std::int32_t> length_of(Heap& heap, TaggedWord array) {
  if (heap.type(array) < heap.layout().type_first_nonstring.value) return std::nullopt;
  const auto length = heap.field(array, 8);
  if (!length || !length->is_smi() || length->smi() < 0 || length->smi() > kMaxElements) return std::nullopt;
  return length->smi();
}

std::optional<TaggedWord> element(Heap& heap, TaggedWord array, std::int32_t length, std::int32_t index) {
  if (index < 0 || index >= length) return std::nullopt;
  return heap.field(array, 16 + std::int64_t{8} * index);
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
  const auto literal = element(heap, literals_, literal_count_, function);
  if (!literal || !heap.is(literal->strong(), heap.layout().type_shared)) return std::nullopt;
  call.shared = literal->strong();
  return call;
}

}  // namespace nodescope::v8
