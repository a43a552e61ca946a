#include "v8/script_functions.h"

#include <algorithm>

namespace nodescope::v8 {

namespace {

constexpr std::int32_t kMaxFunctions = 1 << 18;
constexpr std::size_t kMaxOwners = 1 << 18;
constexpr std::int64_t kArrayHeader = 16;  // map and length
constexpr std::int64_t kWordBytes = 8;

// The list is behind the fields whose places are known; which one it is differs between versions.
constexpr std::int64_t kFirstField = 48;
constexpr std::int64_t kLastField = 160;
// Function 0 is the script's own code; some of the first may have been thrown away.
constexpr std::int32_t kFirstElements = 16;

// Where a BytecodeArray keeps its constants, in one version or another.
constexpr std::int64_t kFirstConstants = 16;
constexpr std::int64_t kLastConstants = 40;
constexpr std::int32_t kMaxConstants = 4096;

}  // namespace

void ScriptFunctions::note(TaggedWord script) {
  if (!noted_.empty() && noted_.back().script == script) return;
  const auto known = std::ranges::find(noted_, script, &Noted::script);
  if (known != noted_.end()) {
    std::rotate(known, known + 1, noted_.end());
    return;
  }
  if (noted_.size() == kMaxScripts) noted_.erase(noted_.begin());
  noted_.push_back({script, 0});
}

// A field of `object` that is an array with a function among its first elements.
std::optional<TaggedWord> ScriptFunctions::array_with_functions(TaggedWord object, std::int64_t first,
                                                                std::int64_t last, std::int32_t elements) {
  const Layout& layout = heap_.layout();
  for (std::int64_t offset = first; offset <= last; offset += kWordBytes) {
    const auto list = heap_.field(object, offset);
    if (!list || heap_.type(*list) < layout.type_first_nonstring.value) continue;
    const auto length = heap_.field(*list, kWordBytes);
    if (!length || !length->is_smi() || length->smi() <= 0 || length->smi() > kMaxFunctions) continue;
    for (std::int32_t i = 0; i < std::min(length->smi(), elements); ++i) {
      const auto element = heap_.field(*list, kArrayHeader + kWordBytes * i);
      if (element && heap_.is(element->strong(), layout.type_shared)) return list;
    }
  }
  return std::nullopt;
}

std::optional<TaggedWord> ScriptFunctions::list_of(TaggedWord script) {
  if (!heap_.is(script, heap_.layout().type_script)) return std::nullopt;
  return array_with_functions(script, kFirstField, kLastField, kFirstElements);
}

void ScriptFunctions::note_script_of(TaggedWord bytecode) {
  const Layout& layout = heap_.layout();
  const auto constants = array_with_functions(bytecode, kFirstConstants, kLastConstants, kMaxConstants);
  if (!constants) return;
  const std::int32_t count = std::min(heap_.field(*constants, kWordBytes)->smi(), kMaxConstants);
  for (std::int32_t i = 0; i < count; ++i) {
    const auto element = heap_.field(*constants, kArrayHeader + kWordBytes * i);
    if (!element || !heap_.is(*element, layout.type_shared)) continue;
    const auto script = heap_.field(*element, layout.shared_script);
    if (script && heap_.is(*script, layout.type_script)) return note(*script);
  }
}

void ScriptFunctions::look_through(TaggedWord script) {
  const Layout& layout = heap_.layout();
  const auto list = list_of(script);
  if (!list) return;
  const std::int32_t count = heap_.field(*list, kWordBytes)->smi();
  if (owners_.size() > kMaxOwners) owners_.clear();
  for (std::int32_t i = 0; i < count; ++i) {
    const auto element = heap_.field(*list, kArrayHeader + kWordBytes * i);
    if (!element || !element->strong().is_object()) continue;
    const auto data = heap_.field(element->strong(), layout.shared_data);
    if (data && heap_.is(*data, layout.type_bytecode_array))
      owners_.insert_or_assign(data->value, element->strong());
  }
}

std::optional<TaggedWord> ScriptFunctions::find(TaggedWord bytecode) {
  for (auto noted = noted_.rbegin();; ++noted) {
    const auto known = owners_.find(bytecode.value);
    if (known != owners_.end()) {
      if (heap_.field(known->second, heap_.layout().shared_data) == bytecode) return known->second;
      owners_.erase(known);
    }
    while (noted != noted_.rend() && noted->looked_at != 0 &&
           generation_ - noted->looked_at < kGenerationsBetweenLooks)
      ++noted;
    if (noted == noted_.rend()) return std::nullopt;
    noted->looked_at = generation_;
    look_through(noted->script);
  }
}

}  // namespace nodescope::v8
