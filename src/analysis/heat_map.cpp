#include "analysis/heat_map.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "analysis/cpu_time.h"
#include "analysis/sample_filter.h"

namespace nodescope {

namespace {

// From the first sample of the profile.
struct Span {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  // excluded
};

// Times that a profile may claim; what is beyond is damage, and sums of two such times cannot overflow.
constexpr std::int64_t kMaxTimeNs = std::numeric_limits<std::int64_t>::max() / 4;

std::int64_t last_time_ns(const SampleTable& samples) {
  if (samples.size() == 0) return 0;
  std::int64_t last = samples.time_ns(samples.size() - 1);
  if (samples.is_sorted_by_time()) return last;
  for (std::size_t i = 0; i < samples.size(); ++i) last = std::max(last, samples.time_ns(i));
  return last;
}

// Differences as unsigned numbers: times may be anywhere.
std::int64_t distance(std::int64_t from, std::int64_t to) {
  const std::uint64_t difference = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(difference, kMaxTimeNs));
}

Span span_of(const Profile& profile, std::int64_t first_ns, const Selection& selection) {
  Span span{0, distance(first_ns, last_time_ns(profile.samples)) + 1};
  if (!selection.time) return span;
  span.begin_ns = std::clamp<std::int64_t>(selection.time->begin_ns, 0, span.end_ns);
  span.end_ns = std::clamp<std::int64_t>(selection.time->end_ns, span.begin_ns, span.end_ns);
  return span;
}

// The cell that is being filled; samples come in the order of time, so each cell is filled once.
struct Cell {
  std::array<std::uint32_t, kCauseCount> by_cause{};
  std::uint32_t matched = 0;
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  std::uint64_t index = 0;
};

// Largest first; JavaScript only where nothing else is large.
std::size_t dominant(const std::array<std::uint32_t, kCauseCount>& by_cause, std::uint32_t all) {
  constexpr std::uint64_t kLeastPercent = 30;
  const auto largest = std::ranges::max_element(by_cause.begin() + 1, by_cause.end());
  return std::uint64_t{*largest} * 100 >= all * kLeastPercent
             ? static_cast<std::size_t>(largest - by_cause.begin())
             : 0;
}

class HeatBuilder {
 public:
  HeatBuilder(const Profile& profile, const std::vector<Cause>& causes, const HeatOptions& options, Span span)
      : profile_(profile), causes_(causes), options_(options), first_ns_(first_time_ns(profile)) {
    map_.rows = options.rows;
    map_.column_ns = options.column_ns;
    const std::int64_t first_column = span.begin_ns / options.column_ns;
    const std::int64_t end_column = (span.end_ns + options.column_ns - 1) / options.column_ns;
    map_.first_column_ns = first_column * options.column_ns;
    columns_ = static_cast<std::uint64_t>(std::max<std::int64_t>(end_column - first_column, 1));
  }

  bool fits() const { return columns_ <= kMaxCells / map_.rows; }

  HeatMap run(const SampleFilter& filter) {
    map_.columns = static_cast<std::uint32_t>(columns_);
    const auto cells = static_cast<std::size_t>(columns_) * map_.rows;
    map_.count.resize(cells);
    map_.cause.resize(cells, kEmptyCell);
    map_.share.resize(cells);
    std::vector<std::uint8_t> found;
    if (options_.search != nullptr) {
      map_.matched.resize(cells);
      found = find_stacks(profile_, {*options_.search});
    }
    visit_by_time(profile_, filter, [&](std::size_t i) {
      const std::int64_t time = profile_.samples.time_ns(i);
      if (time >= cell_.end_ns) begin_cell(time);
      const std::size_t stack = profile_.samples.stack(i).index();
      ++cell_.by_cause[static_cast<std::size_t>(causes_[stack])];
      if (!found.empty()) cell_.matched += found[stack];
    });
    end_cell();
    measure();
    return std::move(map_);
  }

 private:
  void begin_cell(std::int64_t time) {
    end_cell();
    const std::int64_t offset = distance(first_ns_, time) - map_.first_column_ns;
    const std::int64_t column = offset / map_.column_ns;
    const std::int64_t within = offset % map_.column_ns;
    // In wide arithmetic: a column may be days long.
    __extension__ using Wide = __int128;
    const auto row = static_cast<std::int64_t>(Wide{within} * map_.rows / map_.column_ns);
    const Wide end_within = (Wide{row + 1} * map_.column_ns + map_.rows - 1) / map_.rows;
    const std::int64_t left = static_cast<std::int64_t>(end_within) - within;
    cell_ = {};
    cell_.index = static_cast<std::uint64_t>(column) * map_.rows + static_cast<std::uint64_t>(row);
    if (__builtin_add_overflow(time, left, &cell_.end_ns)) {
      cell_.end_ns = std::numeric_limits<std::int64_t>::max();
    }
  }

  void end_cell() {
    const std::uint32_t all = std::accumulate(cell_.by_cause.begin(), cell_.by_cause.end(), 0u);
    const auto index = static_cast<std::size_t>(cell_.index);
    if (all == 0 || index >= map_.count.size()) return;
    const std::size_t cause = dominant(cell_.by_cause, all);
    map_.count[index] = all;
    map_.cause[index] = static_cast<std::uint8_t>(cause);
    map_.share[index] = static_cast<std::uint8_t>(std::uint64_t{cell_.by_cause[cause]} * 255 / all);
    if (!map_.matched.empty()) map_.matched[index] = cell_.matched;
  }

  void measure() {
    std::vector<std::uint32_t> filled;
    std::ranges::copy_if(map_.count, std::back_inserter(filled), [](std::uint32_t n) { return n != 0; });
    if (filled.empty()) return;
    map_.maximum = std::ranges::max(filled);
    const std::size_t rank = std::min(filled.size() - 1, filled.size() * 995 / 1000);
    std::ranges::nth_element(filled, filled.begin() + static_cast<std::ptrdiff_t>(rank));
    map_.p995 = filled[rank];
  }

  const Profile& profile_;
  const std::vector<Cause>& causes_;
  const HeatOptions& options_;
  std::int64_t first_ns_;
  std::uint64_t columns_ = 0;
  HeatMap map_;
  Cell cell_;
};

}  // namespace

Result<HeatMap> derive_heat_map(const Profile& profile, const std::vector<Cause>& causes,
                                const Selection& selection, const HeatOptions& options) {
  if (options.column_ns <= 0 || options.column_ns > kMaxTimeNs || options.rows == 0 ||
      options.rows > kMaxCells) {
    return fail(ErrorCode::kUsage, "a heat map needs a length of its columns and a number of rows");
  }
  const auto filter = SampleFilter::build(profile, one_event_of(profile, selection));
  if (!filter) return std::unexpected(filter.error());
  HeatBuilder builder(profile, causes, options, span_of(profile, first_time_ns(profile), selection));
  if (!builder.fits()) {
    return fail(ErrorCode::kUsage, "the heat map would have more than 4 million cells: use longer columns");
  }
  return builder.run(*filter);
}

Result<ThreadLanes> derive_lanes(const Profile& profile, const Overview& overview,
                                 const std::vector<Cause>& causes, const Selection& selection,
                                 std::uint32_t bins) {
  const std::uint64_t lanes = profile.threads().size() * kCauseCount;
  if (bins == 0 || bins > 4 * kMaxCells / lanes) {
    return fail(ErrorCode::kUsage, "too many threads and stretches of time to be counted: use fewer of them");
  }
  Selection all_threads = one_event_of(profile, selection);
  all_threads.threads.clear();
  const auto filter = SampleFilter::build(profile, all_threads);
  if (!filter) return std::unexpected(filter.error());

  const std::int64_t first_ns = first_time_ns(profile);
  const Span span = span_of(profile, first_ns, selection);
  ThreadLanes result;
  result.bins = bins;
  result.first_ns = static_cast<double>(span.begin_ns);
  result.bin_ns = static_cast<double>(std::max<std::int64_t>(span.end_ns - span.begin_ns, 1)) / bins;
  result.count.resize(static_cast<std::size_t>(lanes) * bins);
  const CpuTime cpu_time(profile, overview);
  const EventId event = selection.event.value_or(EventId{});
  if (event.index() < profile.events().size() && cpu_time.is_known(event))
    result.cpu_ns.resize(result.count.size());
  std::uint32_t bin = 0;
  std::int64_t bin_end = std::numeric_limits<std::int64_t>::min();
  visit_by_time(profile, *filter, [&](std::size_t i) {
    const std::int64_t time = profile.samples.time_ns(i);
    if (time >= bin_end) {
      const auto offset = static_cast<double>(distance(first_ns, time) - span.begin_ns);
      bin = static_cast<std::uint32_t>(std::clamp(offset / result.bin_ns, 0.0, bins - 1.0));
      const double left = (bin + 1.0) * result.bin_ns - offset;
      if (__builtin_add_overflow(time, static_cast<std::int64_t>(std::clamp(left, 0.0, 1e18)), &bin_end)) {
        bin_end = std::numeric_limits<std::int64_t>::max();
      }
    }
    const std::size_t thread = profile.samples.context(i).thread.index();
    const auto cause = static_cast<std::size_t>(causes[profile.samples.stack(i).index()]);
    const std::size_t at = (thread * bins + bin) * kCauseCount + cause;
    ++result.count[at];
    if (!result.cpu_ns.empty() && cause != static_cast<std::size_t>(Cause::kIdle))
      result.cpu_ns[at] += cpu_time.ns(i);
  });
  return result;
}

}  // namespace nodescope
