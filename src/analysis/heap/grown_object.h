#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/heap_diff.h"
#include "analysis/heap/reach.h"

namespace nodescope {

// An object of the program that is larger in each snapshot than in the one before, without any new objects:
// an array or a map of numbers, an object with ever more keys.
struct GrownObject {
  std::uint32_t node = 0;
  std::int64_t bytes_delta = 0;
};
// The one that grew most.  Nothing where none has most of the heap's growth.
std::optional<GrownObject> find_grown_object(std::span<const HeapBaseline> older, const HeapAnalysis& newest,
                                             const Reach& reach);

}  // namespace nodescope
