#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "v8/heap_objects.h"
#include "v8/version.h"

namespace nodescope::v8 {

// The variables of a scope that its context holds, each with its place among them.
struct ScopeLocals {
  std::uint32_t flags = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> locals;  // names, tagged
};
ScopeLocals scope_local_names(const HeapObject& scope, const Version& version, const HeapObjects& objects);

}  // namespace nodescope::v8
