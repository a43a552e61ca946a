#include "formats/recording/sample_block.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/flat_map.h"
#include "formats/recording/layout.h"
#include "formats/recording/varint.h"

namespace nodescope::recording {

namespace {

constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint32_t>::max();

// How often the steps between times are looked at to find the usual one.
constexpr std::size_t kPeriodProbes = 4096;

// Times as multiples of `unit`, each as its distance from `period` after the one before it in its lane.
struct TimeScale {
  std::uint64_t unit = 1;
  std::uint64_t period = 0;
};

// Calls `use(place, first)` for each sample lane by lane; `first` says that a lane begins.
template <typename Use>
void for_each_in_lanes(const Lanes& lanes, Use use) {
  auto place = lanes.order.begin();
  for (const std::uint32_t size : lanes.sizes) {
    for (std::uint32_t k = 0; k < size; ++k) use(*place++, k == 0);
  }
}

// Differences wrap, so that any two times have one.
std::uint64_t step(std::int64_t from, std::int64_t to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

std::uint64_t common_unit(const SampleBlock& block, std::int64_t first_time_ns) {
  std::uint64_t unit = 0;
  for (const std::int64_t time : block.time_ns) {
    const std::uint64_t offset = step(first_time_ns, time);
    // With wrapped differences a quotient would not multiply back.
    if (offset > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return 1;
    if (unit == 0 || offset % unit != 0) unit = std::gcd(unit, offset);
    if (unit == 1) return 1;
  }
  return std::max<std::uint64_t>(unit, 1);
}

std::uint64_t usual_step(const SampleBlock& block, const Lanes& lanes) {
  std::vector<std::int64_t> steps;
  const std::size_t stride = block.size() / kPeriodProbes + 1;
  std::size_t index = 0;
  std::int64_t before = 0;
  for_each_in_lanes(lanes, [&](std::uint32_t place, bool first) {
    const std::int64_t time = block.time_ns[place];
    if (!first && index++ % stride == 0) steps.push_back(static_cast<std::int64_t>(step(before, time)));
    before = time;
  });
  if (steps.empty()) return 0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle);
  return static_cast<std::uint64_t>(*middle);
}

std::int64_t divide(std::uint64_t difference, std::uint64_t unit) {
  const auto value = static_cast<std::int64_t>(difference);
  return unit == 1 ? value : value / static_cast<std::int64_t>(unit);
}

TimeScale scale_of(const SampleBlock& block, const Lanes& lanes, std::int64_t first_time_ns) {
  const std::uint64_t unit = common_unit(block, first_time_ns);
  return {unit, static_cast<std::uint64_t>(divide(usual_step(block, lanes), unit))};
}

std::string encode_contexts(const SampleBlock& block) {
  std::string column;
  std::vector<std::uint32_t> successor(block.contexts.size());
  std::uint32_t before = 0;
  for (const std::uint32_t context : block.context) {
    put_varint(column, successor[before] == context ? 0 : std::uint64_t{context} + 1);
    successor[before] = context;
    before = context;
  }
  return column;
}

std::string encode_times(const SampleBlock& block, const Lanes& lanes, std::int64_t first_time_ns,
                         const TimeScale& scale) {
  std::string column;
  std::int64_t before = 0;
  for_each_in_lanes(lanes, [&](std::uint32_t place, bool first) {
    if (first) before = first_time_ns;
    const std::int64_t time = block.time_ns[place];
    const auto units = static_cast<std::uint64_t>(divide(step(before, time), scale.unit));
    put_varint(column, zigzag(static_cast<std::int64_t>(units - scale.period)));
    before = time;
  });
  return column;
}

std::string encode_stacks(const SampleBlock& block, const Lanes& lanes) {
  std::string column;
  std::uint32_t before = 0;
  for_each_in_lanes(lanes, [&](std::uint32_t place, bool first) {
    if (first) before = 0;
    const std::uint32_t stack = block.stack[place];
    put_varint(column, stack == before ? 0 : std::uint64_t{stack} + 1);
    before = stack;
  });
  return column;
}

std::string encode_weights(const SampleBlock& block, const Lanes& lanes) {
  std::string column;
  std::uint64_t before = 0;
  for_each_in_lanes(lanes, [&](std::uint32_t place, bool first) {
    if (first) before = 0;
    const std::uint64_t weight = block.weight[place];
    put_varint(column, zigzag(static_cast<std::int64_t>(weight - before)));
    before = weight;
  });
  return column;
}

bool all_equal(const auto& column) {
  return std::ranges::all_of(column, [&](const auto& value) { return value == column.front(); });
}

bool parse_context_list(Cursor& in, std::uint64_t sample_count, SampleBlock& block) {
  const std::uint64_t count = in.varint();
  if (count == 0 || count > sample_count) return false;
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) {
    const std::uint64_t thread = in.varint();
    const std::uint64_t cpu_plus_one = in.varint();
    const std::uint64_t event = in.varint();
    if (std::max({thread, cpu_plus_one, event}) > kMaxId) return false;
    block.contexts.push_back({static_cast<std::uint32_t>(thread), static_cast<std::uint32_t>(cpu_plus_one),
                              static_cast<std::uint32_t>(event)});
  }
  return !in.failed();
}

bool parse_contexts(Cursor in, std::size_t count, SampleBlock& block) {
  block.context.resize(count);
  if (block.contexts.size() == 1) {
    std::ranges::fill(block.context, 0u);
    return in.finished();
  }
  std::vector<std::uint32_t> successor(block.contexts.size());
  std::uint32_t before = 0;
  for (std::uint32_t& context : block.context) {
    const std::uint64_t value = in.varint();
    if (value > block.contexts.size()) return false;
    context = value == 0 ? successor[before] : static_cast<std::uint32_t>(value - 1);
    successor[before] = context;
    before = context;
  }
  return in.finished();
}

bool parse_times(Cursor in, const Lanes& lanes, std::int64_t first_time_ns, const TimeScale& scale,
                 SampleBlock& block) {
  std::uint64_t time = 0;
  for_each_in_lanes(lanes, [&](std::uint32_t place, bool first) {
    if (first) time = static_cast<std::uint64_t>(first_time_ns);
    time += (scale.period + static_cast<std::uint64_t>(in.signed_varint())) * scale.unit;
    block.time_ns[place] = static_cast<std::int64_t>(time);
  });
  return in.finished();
}

bool parse_stacks(Cursor in, const Lanes& lanes, SampleBlock& block) {
  std::uint64_t stack = 0;
  std::uint64_t largest = 0;
  for_each_in_lanes(lanes, [&](std::uint32_t place, bool first) {
    if (first) stack = 0;
    const std::uint64_t value = in.varint();
    if (value != 0) stack = value - 1;
    largest = std::max(largest, stack);
    block.stack[place] = static_cast<std::uint32_t>(stack);
  });
  return in.finished() && largest <= kMaxId;
}

bool parse_weights(Cursor in, const Lanes& lanes, SampleBlock& block) {
  std::uint64_t weight = 0;
  for_each_in_lanes(lanes, [&](std::uint32_t place, bool first) {
    if (first) weight = 0;
    weight += static_cast<std::uint64_t>(in.signed_varint());
    block.weight[place] = weight;
  });
  return in.finished();
}

}  // namespace

void SampleBlock::clear() {
  contexts.clear();
  context.clear();
  time_ns.clear();
  stack.clear();
  weight.clear();
}

void Lanes::build(const SampleBlock& block) {
  FlatMap<std::uint64_t, std::uint32_t> lane_ids;
  of_context.clear();
  for (const BlockContext& context : block.contexts) {
    const std::uint64_t key = std::uint64_t{context.thread} << 32 | context.event;
    of_context.push_back(
        lane_ids.try_emplace(key, static_cast<std::uint32_t>(lane_ids.size())).first->second);
  }
  sizes.assign(lane_ids.size(), 0);
  for (const std::uint32_t context : block.context) ++sizes[of_context[context]];
  next.resize(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), next.begin(), 0u);
  order.resize(block.context.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[next[of_context[block.context[i]]]++] = i;
}

std::string encode_samples(const SampleBlock& block, std::int64_t first_time_ns) {
  Lanes lanes;
  lanes.build(block);
  const bool one_time = all_equal(block.time_ns);
  const bool one_weight = all_equal(block.weight);

  std::string out;
  put_varint(out, block.size());
  put_varint(out, block.contexts.size());
  for (const BlockContext& context : block.contexts) {
    put_varint(out, context.thread);
    put_varint(out, context.cpu_plus_one);
    put_varint(out, context.event);
  }
  out += static_cast<char>((one_time ? kOneTime : 0) | (one_weight ? kOneWeight : 0));
  const TimeScale scale = one_time ? TimeScale{} : scale_of(block, lanes, first_time_ns);
  if (!one_time) {
    put_varint(out, scale.unit);
    put_varint(out, zigzag(static_cast<std::int64_t>(scale.period)));
  }
  if (one_weight) put_varint(out, block.weight.front());

  put_text(out, block.contexts.size() == 1 ? "" : encode_contexts(block));
  put_text(out, one_time ? "" : encode_times(block, lanes, first_time_ns, scale));
  put_text(out, encode_stacks(block, lanes));
  put_text(out, one_weight ? "" : encode_weights(block, lanes));
  return out;
}

const SampleBlock* SampleParser::parse(std::span<const std::byte> section, std::int64_t first_time_ns) {
  block_.clear();
  Cursor in(section);
  const std::uint64_t claimed = in.varint();
  // Each sample has at least a byte in the column of stacks.
  if (claimed == 0 || claimed > in.remaining()) return nullptr;
  const auto count = static_cast<std::size_t>(claimed);
  if (!parse_context_list(in, count, block_)) return nullptr;
  const std::uint8_t flags = in.byte();
  const bool one_time = (flags & kOneTime) != 0;
  const bool one_weight = (flags & kOneWeight) != 0;
  TimeScale scale;
  if (!one_time) {
    scale.unit = in.varint();
    scale.period = static_cast<std::uint64_t>(in.signed_varint());
  }
  const std::uint64_t weight = one_weight ? in.varint() : 0;
  const auto contexts = in.take(in.varint());
  const auto times = in.take(in.varint());
  const auto stacks = in.take(in.varint());
  const auto weights = in.take(in.varint());
  if (!in.finished() || stacks.size() < count) return nullptr;

  if (!parse_contexts(Cursor(contexts), count, block_)) return nullptr;
  lanes_.build(block_);
  block_.time_ns.assign(count, first_time_ns);
  block_.stack.resize(count);
  block_.weight.assign(count, weight);
  if (!(one_time ? times.empty() : parse_times(Cursor(times), lanes_, first_time_ns, scale, block_)))
    return nullptr;
  if (!parse_stacks(Cursor(stacks), lanes_, block_)) return nullptr;
  if (!(one_weight ? weights.empty() : parse_weights(Cursor(weights), lanes_, block_))) return nullptr;
  return &block_;
}

}  // namespace nodescope::recording
