#include "v8/code_space.h"

#include <algorithm>
#include <utility>

namespace nodescope::v8 {

CodeSpace::CodeSpace(std::vector<Area> areas, Namer namer)
    : areas_(std::move(areas)), namer_(std::move(namer)) {
  std::ranges::sort(areas_, {}, [](const Area& area) { return area.range.begin; });
}

const CodeSpace::Area* CodeSpace::find(Address pc) const {
  const auto next =
      std::ranges::upper_bound(areas_, pc, {}, [](const Area& area) { return area.range.begin; });
  if (next == areas_.begin()) return nullptr;
  const Area& area = *std::prev(next);
  return area.range.contains(pc) ? &area : nullptr;
}

CodeSpace::Kind CodeSpace::kind(Address pc) const {
  const Area* found = find(pc);
  return found == nullptr ? Kind::kOther : found->kind;
}

Range<Address> CodeSpace::area(Address pc) const {
  const Area* found = find(pc);
  return found == nullptr ? Range<Address>{} : found->range;
}

std::string CodeSpace::builtin_name(Address pc) const {
  constexpr std::string_view kPrefix = "Builtins_";
  if (!namer_) return {};
  std::string name = namer_(pc);
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  return name;
}

}  // namespace nodescope::v8
