#include "analysis/turn_details.h"

#include <algorithm>

#include "analysis/function_tree.h"
#include "analysis/overview.h"
#include "analysis/saturating.h"
#include "analysis/stack_copy.h"

namespace nodescope {

namespace {

// Samples of two processors may be in the wrong order by the time between two visits to their buffers.
constexpr std::int64_t kDisorderNs = 1'000'000'000;

std::vector<std::size_t> samples_of(const Profile& profile, const Marker& turn) {
  std::vector<std::size_t> samples;
  const std::int64_t end = saturating_add(turn.time_ns, turn.duration_ns);
  for (std::size_t i = profile.samples.size(); i-- > 0;) {
    const std::int64_t time = profile.samples.time_ns(i);
    if (time < saturating_sub(turn.time_ns, kDisorderNs)) break;
    const bool within = time >= turn.time_ns && time < end;
    if (within && profile.samples.context(i).thread == turn.thread) samples.push_back(i);
  }
  std::ranges::reverse(samples);
  return samples;
}

bool is_known(const Profile& profile, StackId stack) {
  for (; stack != kEmptyStack; stack = profile.stacks.caller(stack)) {
    const Frame& frame = profile.frames[profile.stacks.frame(stack)];
    if (frame.kind == FrameKind::kJs && is_unresolved(profile, frame)) return false;
  }
  return true;
}

// From the root to the callee with most samples, as long as it has more than end where we are.  Stacks with
// JavaScript that could not be told count only where there are no others.
std::vector<FrameId> hottest_stack(const Profile& profile) {
  const FunctionTree tree(profile);
  std::vector<bool> known;
  for (std::size_t i = 0; i < profile.samples.size(); ++i)
    known.push_back(is_known(profile, profile.samples.stack(i)));
  const bool any_known = std::ranges::find(known, true) != known.end();
  std::vector<std::uint64_t> self(tree.size());
  std::vector<StackId> example(tree.size());
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    if (any_known && !known[i]) continue;
    const std::uint32_t node = tree.node_of(profile.samples.stack(i));
    ++self[node];
    example[node] = profile.samples.stack(i);
  }
  std::vector<std::uint64_t> totals = self;
  for (std::uint32_t node = static_cast<std::uint32_t>(tree.size()); node-- > 1;)
    totals[tree.parent(node)] += totals[node];
  std::vector<std::uint32_t> heaviest(tree.size());
  for (std::uint32_t node = 1; node < tree.size(); ++node) {
    std::uint32_t& best = heaviest[tree.parent(node)];
    if (best == 0 || totals[node] > totals[best]) best = node;
  }
  std::uint32_t node = 0;
  while (heaviest[node] != 0 && (node == 0 || totals[heaviest[node]] > self[node])) node = heaviest[node];
  std::vector<FrameId> frames;
  if (node == 0) return frames;
  // The node's own samples are at its end; those of a node without any have more below it.
  if (self[node] != 0) {
    frames = profile.stacks.unwind(example[node]);
    std::ranges::reverse(frames);
    return frames;
  }
  for (; node != 0; node = tree.parent(node)) frames.push_back(tree.frame(node));
  return frames;
}

// Markers are added in the order in which they end, nearly.
std::uint64_t collected_in(const Profile& profile, const Marker& turn) {
  const std::int64_t end = saturating_add(turn.time_ns, turn.duration_ns);
  std::uint64_t sum = 0;
  for (std::size_t i = profile.markers.size(); i-- > 0;) {
    const Marker& marker = profile.markers[i];
    const std::int64_t marker_end = saturating_add(marker.time_ns, marker.duration_ns);
    if (marker_end < saturating_sub(turn.time_ns, kDisorderNs)) break;
    if (marker.kind != MarkerKind::kGc || marker.thread != turn.thread) continue;
    const std::int64_t shared = std::min(end, marker_end) - std::max(turn.time_ns, marker.time_ns);
    if (shared > 0) sum += static_cast<std::uint64_t>(shared);
  }
  return sum;
}

}  // namespace

TurnDetails describe_turn(const Profile& profile, const Marker& turn) {
  TurnDetails details;
  Profile& part = details.profile;
  const std::vector<std::size_t> samples = samples_of(profile, turn);
  std::vector<bool> sampled(profile.stacks.size());
  for (const std::size_t i : samples) sampled[profile.samples.stack(i).index()] = true;
  const std::vector<StackId> stacks = copy_stacks(profile, part, sampled);
  for (const Event& event : profile.events()) part.intern_event(profile.text(event.name), event.unit);
  if (const auto rate = profile.facts.find("rate"); rate != profile.facts.end()) part.facts.insert(*rate);
  part.clock_offset_ns = profile.clock_offset_ns;
  const ThreadId thread = copy_thread(profile, turn.thread, part);
  for (const std::size_t i : samples) {
    Sample sample = profile.samples[i];
    sample.stack = stacks[sample.stack.index()];
    sample.context.thread = thread;
    part.samples.add(sample);
  }
  part.samples.sort_by_time();
  Marker marker = turn;
  marker.thread = thread;
  marker.name = part.strings.intern(profile.text(turn.name));
  part.markers.push_back(marker);
  const auto report = derive_stalls(part, derive_overview(part), derive_causes(part), {}, {0});
  if (report && !report->stalls.empty()) details.stall = report->stalls.front();
  // That counts from the first sample, which is somewhere in the turn.
  details.stall.thread = thread;
  details.stall.estimated = false;
  details.stall.begin_ns = turn.time_ns;
  details.stall.end_ns = saturating_add(turn.time_ns, turn.duration_ns);
  if (part.clock_offset_ns != 0) details.stall.wall_ns = saturating_add(part.clock_offset_ns, turn.time_ns);
  details.collected_ns = collected_in(profile, turn);
  details.hottest = hottest_stack(part);
  return details;
}

}  // namespace nodescope
