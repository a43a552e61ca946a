#include "app/walker_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "capture/stopped_stacks.h"

namespace nodescope {

namespace {

constexpr int kStops = 20;
constexpr auto kBetweenStops = std::chrono::milliseconds(50);

void count_frame(v8::ProcessView& view, const v8::Frame& frame, WalkerCounts& counts) {
  if (frame.kind != v8::FrameKind::kJs && frame.kind != v8::FrameKind::kUnknownJs) return;
  ++counts.js;
  if (frame.kind == v8::FrameKind::kUnknownJs) {
    ++counts.unknown;
    return;
  }
  const bool has_line = frame.script && view.place(*frame.script, frame.offset);
  if (!has_line) {
    ++counts.without_line;
  } else if (!frame.sure) {
    ++counts.unsure;
  }
  if (frame.tier == v8::Tier::kMaglev || frame.tier == v8::Tier::kTurbofan) ++counts.optimized;
  if (frame.inlined) ++counts.inlined;
}

TrustIn not_seen() {
  return {Trust::kNotSeen, "no JavaScript ran while we looked; try again while the process works"};
}

TrustIn verdict_on_names(const WalkerCounts& counts) {
  if (counts.js == 0) return not_seen();
  if (counts.unknown != 0) {
    return {Trust::kDoubtful,
            fmt::format("{} of {} JavaScript frames could not be told and are shown as [unknown js]; "
                        "the names that are shown are right",
                        counts.unknown, counts.js)};
  }
  return {Trust::kTrusted, fmt::format("all of {} JavaScript frames were told", counts.js)};
}

TrustIn verdict_on_lines(const WalkerCounts& counts, bool known_version) {
  if (!known_version) return {Trust::kDoubtful, "this V8 is newer than nodescope knows: no lines are shown"};
  const std::size_t told = counts.js - counts.unknown;
  if (told == 0) return not_seen();
  const std::size_t doubtful = counts.without_line + counts.unsure;
  if (doubtful == 0) return {Trust::kTrusted, fmt::format("all of {} frames have one", told)};
  return {Trust::kDoubtful,
          fmt::format("of {} frames {} have none and {} are marked as not sure; the others are right", told,
                      counts.without_line, counts.unsure)};
}

TrustIn verdict_on_inlined(const WalkerCounts& counts, bool known_version) {
  if (!known_version)
    return {Trust::kDoubtful, "this V8 is newer than nodescope knows: inlined functions are not shown"};
  if (counts.optimized == 0)
    return {Trust::kNotSeen, "no optimized code ran while we looked; try again while the process works"};
  return {Trust::kTrusted,
          fmt::format("{} inlined among {} frames of optimized code", counts.inlined, counts.optimized)};
}

}  // namespace

std::string_view to_string(Trust trust) {
  switch (trust) {
    case Trust::kTrusted:
      return "trusted";
    case Trust::kDoubtful:
      return "doubtful";
    case Trust::kNotSeen:
      return "not seen";
  }
  return "not seen";
}

Result<WalkerCounts> test_walker(v8::ProcessView& view, Diagnostics& diagnostics) {
  WalkerCounts counts;
  for (int i = 0; i < kStops; ++i) {
    if (i != 0) std::this_thread::sleep_for(kBetweenStops);
    const auto stopped = read_stopped_stacks(view, diagnostics);
    if (!stopped) return std::unexpected(stopped.error());
    ++counts.stops;
    counts.longest_stop_ns = std::max(counts.longest_stop_ns, stopped->stopped_ns);
    for (const ThreadStack& thread : stopped->threads) {
      ++counts.stacks;
      if (thread.stack.end != UnwindEnd::kRoot) ++counts.incomplete;
      for (const v8::StackEntry& entry : thread.stack.entries) {
        if (const auto* frame = std::get_if<v8::Frame>(&entry)) count_frame(view, *frame, counts);
      }
    }
  }
  return counts;
}

WalkerVerdict derive_verdict(const WalkerCounts& counts, bool known_version) {
  return {verdict_on_names(counts), verdict_on_lines(counts, known_version),
          verdict_on_inlined(counts, known_version)};
}

}  // namespace nodescope
