#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/cause.h"
#include "analysis/overview.h"
#include "analysis/selection.h"
#include "base/pattern.h"
#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// Samples by time: a column is a stretch of time, say a second, and its cells are equal parts of it.
struct HeatOptions {
  std::int64_t column_ns = 1'000'000'000;
  std::uint32_t rows = 50;
  const Pattern* search = nullptr;  // over labels of frames; counts what it finds
};

constexpr std::uint8_t kEmptyCell = 255;
constexpr std::uint64_t kMaxCells = 4'000'000;

// By cell, column by column: cell = column * rows + row.
struct HeatMap {
  std::uint32_t columns = 0;
  std::uint32_t rows = 0;
  std::int64_t column_ns = 0;
  std::int64_t first_column_ns = 0;  // from the first sample of the profile; a multiple of column_ns
  std::vector<std::uint32_t> count;  // samples
  // The largest cause other than JavaScript if it has 30 % of the cell, else JavaScript; kEmptyCell for none.
  std::vector<std::uint8_t> cause;
  std::vector<std::uint8_t> share;     // that cause's, of 255
  std::vector<std::uint32_t> matched;  // with a search
  std::uint32_t maximum = 0;
  std::uint32_t p995 = 0;  // 99.5 % of the cells that are not empty have no more
};

// The samples of one event, selection.event or else event 0.  Columns reach from the selection's first time
// to its last, or where the profile's samples do.  Fails with kUsage where that would be more than kMaxCells.
Result<HeatMap> derive_heat_map(const Profile& profile, const std::vector<Cause>& causes,
                                const Selection& selection, const HeatOptions& options);

// What every thread does over time.
struct ThreadLanes {
  std::uint32_t bins = 0;
  double bin_ns = 0;
  double first_ns = 0;               // from the first sample of the profile
  std::vector<std::uint32_t> count;  // samples, by thread, bin and cause
  std::vector<double> cpu_ns;        // CPU time of all causes but idle, in the same order; empty: not known
};

// All threads, whatever selection.threads says.
Result<ThreadLanes> derive_lanes(const Profile& profile, const Overview& overview,
                                 const std::vector<Cause>& causes, const Selection& selection,
                                 std::uint32_t bins);

}  // namespace nodescope
