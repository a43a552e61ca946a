#include "v8/scope_locals.h"

namespace nodescope::v8 {

namespace {

constexpr std::int64_t kMaxInlinedNames = 75;
constexpr std::int64_t kMaxLocals = 1 << 20;

// More names than that are in a hash table of names and places.
void read_name_table(std::uint64_t table, const HeapObjects& objects, ScopeLocals& result) {
  constexpr std::uint64_t kFirst = 40;
  const auto names = (table & 3) == 1 ? objects.load(table - 1) : std::nullopt;
  if (!names || !objects.shapes().is_fixed_array(names->shape->type)) return;
  for (std::uint64_t offset = kFirst; offset + 16 <= names->bytes.size(); offset += 16) {
    const std::uint64_t name = names->word(offset);
    const std::uint64_t place = names->word(offset + 8);
    if ((name & 3) == 1 && (place & 0xFFFFFFFF) == 0 && static_cast<std::int64_t>(place) >= 0)
      result.locals.emplace_back(name, static_cast<std::uint32_t>(place >> 32));
  }
}

}  // namespace

ScopeLocals scope_local_names(const HeapObject& scope, const Version& version, const HeapObjects& objects) {
  ScopeLocals result;
  const bool has_raw_flags = version >= Version{12, 8, 0};
  result.flags = static_cast<std::uint32_t>(has_raw_flags ? scope.word(8) : scope.word(8) >> 32);
  const auto count = static_cast<std::int64_t>(scope.word(24)) >> 32;
  if (count < 0 || count > kMaxLocals) return result;
  std::uint64_t offset = 32;
  if (has_raw_flags) offset += 16;  // where it begins and ends
  const std::uint32_t module = has_raw_flags ? 5 : 3;
  if (version >= Version{12, 1, 0} && (result.flags & 15) == module) offset += 8;
  if (version >= Version{9, 8, 0} && count >= kMaxInlinedNames) {
    read_name_table(scope.word(offset), objects, result);
    return result;
  }
  for (std::uint32_t i = 0; i < count && offset + 8 <= scope.bytes.size(); ++i, offset += 8) {
    if ((scope.word(offset) & 3) == 1) result.locals.emplace_back(scope.word(offset), i);
  }
  return result;
}

}  // namespace nodescope::v8
