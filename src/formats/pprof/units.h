#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/profile.h"

namespace nodescope::pprof {

// A unit of pprof as one of the model's, with the factor between them.
struct ScaledUnit {
  Unit unit = Unit::kCount;
  std::uint64_t factor = 1;
  bool known = false;
};

// `type` is what is counted: samples are counted in "count", as are objects.
ScaledUnit unit_of_text(std::string_view type, std::string_view unit);

// The text that unit_of_text understands as `unit` for that type.
std::string_view text_of_unit(std::string_view type, Unit unit);

}  // namespace nodescope::pprof
