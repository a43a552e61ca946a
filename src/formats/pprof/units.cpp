#include "formats/pprof/units.h"

#include <algorithm>
#include <array>

namespace nodescope::pprof {

namespace {

struct KnownUnit {
  std::string_view text;
  Unit unit;
  std::uint64_t factor;
};

// The spellings that `go tool pprof` takes; its kilobyte has 1,024 bytes.
constexpr std::array kKnownUnits = {
    KnownUnit{"nanoseconds", Unit::kNanoseconds, 1},
    KnownUnit{"nanosecond", Unit::kNanoseconds, 1},
    KnownUnit{"ns", Unit::kNanoseconds, 1},
    KnownUnit{"microseconds", Unit::kNanoseconds, 1'000},
    KnownUnit{"microsecond", Unit::kNanoseconds, 1'000},
    KnownUnit{"us", Unit::kNanoseconds, 1'000},
    KnownUnit{"milliseconds", Unit::kNanoseconds, 1'000'000},
    KnownUnit{"millisecond", Unit::kNanoseconds, 1'000'000},
    KnownUnit{"ms", Unit::kNanoseconds, 1'000'000},
    KnownUnit{"seconds", Unit::kNanoseconds, 1'000'000'000},
    KnownUnit{"second", Unit::kNanoseconds, 1'000'000'000},
    KnownUnit{"s", Unit::kNanoseconds, 1'000'000'000},
    KnownUnit{"bytes", Unit::kBytes, 1},
    KnownUnit{"byte", Unit::kBytes, 1},
    KnownUnit{"b", Unit::kBytes, 1},
    KnownUnit{"kilobytes", Unit::kBytes, 1 << 10},
    KnownUnit{"kilobyte", Unit::kBytes, 1 << 10},
    KnownUnit{"kb", Unit::kBytes, 1 << 10},
    KnownUnit{"megabytes", Unit::kBytes, 1 << 20},
    KnownUnit{"megabyte", Unit::kBytes, 1 << 20},
    KnownUnit{"mb", Unit::kBytes, 1 << 20},
    KnownUnit{"samples", Unit::kSamples, 1},
    KnownUnit{"sample", Unit::kSamples, 1},
    KnownUnit{"count", Unit::kCount, 1},
    KnownUnit{"counts", Unit::kCount, 1},
    KnownUnit{"1", Unit::kCount, 1},
};

bool counts_samples(std::string_view type) {
  return type == "samples" || type == "sample";
}

}  // namespace

ScaledUnit unit_of_text(std::string_view type, std::string_view unit) {
  if (unit == "count" && counts_samples(type)) return {Unit::kSamples, 1, true};
  const auto known = std::ranges::find(kKnownUnits, unit, &KnownUnit::text);
  if (known == kKnownUnits.end()) return {};
  return {known->unit, known->factor, true};
}

std::string_view text_of_unit(std::string_view type, Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return "nanoseconds";
    case Unit::kBytes:
      return "bytes";
    case Unit::kSamples:
      return counts_samples(type) ? "count" : "samples";
    case Unit::kCount:
      return counts_samples(type) ? "counts" : "count";
  }
  return "count";
}

}  // namespace nodescope::pprof
