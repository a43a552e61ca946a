#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/diff.h"
#include "page/flame_request.h"
#include "page/search.h"
#include "page/tree_columns.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

// A chart has a box for every change, so more samples than this show nothing and cost seconds.
constexpr std::uint64_t kMaxChartSamples = 2'000'000;

struct Drawn {
  CallTree tree;
  std::uint64_t matched = 0;
  std::uint64_t samples = 0;
  // Of a chart, by node: from the first sample of the recording.
  std::vector<double> begin_ns;
  std::vector<double> end_ns;
};

std::uint64_t least_total(double fraction, std::uint64_t total) {
  return static_cast<std::uint64_t>(std::ceil(fraction * static_cast<double>(total)));
}

CallTreeOptions tree_options(const FlameRequest& request) {
  CallTreeOptions options;
  options.root = request.root;
  options.labels.merge_tiers = !request.split_tiers;
  options.collapse_recursion = request.collapse_recursion;
  return options;
}

Result<Drawn> draw(Session& session, const FlameRequest& request, const Pattern* search) {
  const auto sums = session.sums(request.asked, request.by_thread());
  if (!sums) return std::unexpected(sums.error());
  const Profile& profile = (*sums)->profile;
  Drawn drawn;
  drawn.samples = (*sums)->samples;
  CallTreeOptions options = tree_options(request);
  if (search != nullptr) drawn.matched = matched_total(derive_call_tree(profile, options), *search);
  options.reversed = request.reversed;
  options.min_total = least_total(request.min, derive_total(profile, EventId{}, CountBy::kWeight));
  drawn.tree = derive_call_tree(profile, options);
  return drawn;
}

Result<Drawn> draw_comparison(Session& session, const FlameRequest& request, const Asked& baseline,
                              const Pattern* search) {
  const auto after = session.sums(request.asked, request.by_thread());
  if (!after) return std::unexpected(after.error());
  const auto before = session.sums(baseline, request.by_thread());
  if (!before) return std::unexpected(before.error());
  DiffOptions options;
  options.labels.merge_tiers = !request.split_tiers;
  options.root = request.root;
  options.collapse_recursion = request.collapse_recursion;
  options.normalise = request.normalise;
  const Diff diff = derive_diff((*before)->profile, (*after)->profile, options);
  DiffTreeOptions tree;
  tree.width = request.width;
  Drawn drawn;
  drawn.samples = (*after)->samples;
  if (search != nullptr) drawn.matched = matched_total(diff.derive_tree(tree), *search);
  tree.reversed = request.reversed;
  tree.min_total = least_total(request.min, diff.width_total(request.width));
  drawn.tree = diff.derive_tree(tree);
  return drawn;
}

// Boxes of a chart begin and end where sums of weights do; this finds the samples at these sums.
void add_times(const Recording& recording, const Profile& chart, CountBy count, Drawn& drawn) {
  const SampleTable& samples = chart.samples;
  const bool by_weight = count == CountBy::kWeight || chart.event(EventId{}).unit == Unit::kSamples;
  std::vector<std::uint64_t> ends;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    sum += by_weight ? samples.weight(i) : 1;
    ends.push_back(sum);
  }
  const double period = recording.overview.rate_hz > 0 ? 1e9 / recording.overview.rate_hz : 0;
  const auto time_of = [&](std::size_t sample) {
    return static_cast<double>(samples.time_ns(sample)) -
           static_cast<double>(recording.overview.first_time_ns);
  };
  for (const CallNode& node : drawn.tree.nodes) {
    const auto at = [&](std::uint64_t position) {
      const auto found = std::ranges::upper_bound(ends, position);
      return std::min(static_cast<std::size_t>(found - ends.begin()), samples.size() - 1);
    };
    if (node.total == 0 || samples.size() == 0) {
      drawn.begin_ns.push_back(0);
      drawn.end_ns.push_back(0);
      continue;
    }
    const std::size_t last = at(node.start + node.total - 1);
    double end = time_of(last) + period;
    if (last + 1 < samples.size()) end = std::min(end, time_of(last + 1));
    drawn.begin_ns.push_back(time_of(at(node.start)));
    drawn.end_ns.push_back(end);
  }
}

Result<Drawn> draw_chart(Session& session, const FlameRequest& request, const Pattern* search) {
  if (request.asked.selection.threads.size() != 1) {
    return fail(ErrorCode::kUsage, "a flame chart shows one thread: choose one");
  }
  const auto sums = session.sums(request.asked);
  if (!sums) return std::unexpected(sums.error());
  if ((*sums)->samples > kMaxChartSamples) {
    return fail(ErrorCode::kUsage, "too many samples for a flame chart: choose a shorter time");
  }
  const Recording& recording = session.recording(request.asked);
  const auto selected = copy_selection(recording.profile, request.asked.selection);
  if (!selected) return std::unexpected(selected.error());
  Drawn drawn;
  drawn.samples = (*sums)->samples;
  CallTreeOptions options = tree_options(request);
  options.count = request.asked.count;
  options.time_order = true;
  options.min_total = least_total(request.min, derive_total(selected->profile, EventId{}, options.count));
  drawn.tree = derive_call_tree(selected->profile, options);
  if (search != nullptr) drawn.matched = matched_total(drawn.tree, *search);
  if (!selected->profile.events().empty()) add_times(recording, selected->profile, options.count, drawn);
  return drawn;
}

Result<Drawn> draw_asked(Session& session, const Query& query, const Pattern* search) {
  const auto request = parse_flame_request(session, query);
  if (!request) return std::unexpected(request.error());
  const auto baseline = parse_baseline(session, query, request->asked);
  if (!baseline) return std::unexpected(baseline.error());
  if (request->time_order) return draw_chart(session, *request, search);
  if (*baseline) return draw_comparison(session, *request, **baseline, search);
  return draw(session, *request, search);
}

}  // namespace

Result<FlameRequest> parse_flame_request(const Session& session, const Query& query) {
  FlameRequest request;
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  request.asked = *asked;
  const auto min = query.number("min", 0.0002, 0, 1);
  if (!min) return std::unexpected(min.error());
  request.min = *min;
  request.reversed = query.flag("reversed");
  request.split_tiers = query.text("tiers") == "split";
  request.collapse_recursion = query.flag("recursion");
  request.time_order = query.text("order") == "time";
  const std::string_view roots = query.text("roots");
  if (roots == "process") {
    request.root = RootBy::kProcess;
  } else if (roots == "thread") {
    request.root = RootBy::kThread;
  } else if (!roots.empty() && roots != "none") {
    return fail(ErrorCode::kUsage, fmt::format("roots={}: not one of none, process, thread", roots));
  }
  const std::string_view width = query.text("width");
  if (width == "both") request.width = DiffWidth::kBoth;
  if (width == "before") request.width = DiffWidth::kBefore;
  request.normalise = query.text("normalise") != "0";
  return request;
}

Result<std::optional<Asked>> parse_baseline(const Session& session, const Query& query, const Asked& asked) {
  const Query inner = query.below("base.");
  if (inner.empty()) return std::nullopt;
  auto baseline = session.parse_asked(inner);
  if (!baseline) return std::unexpected(baseline.error());
  // How stacks look and what counts is the same on both sides.
  baseline->count = asked.count;
  baseline->selection.only_my_code = asked.selection.only_my_code;
  baseline->selection.fold_event_loop = asked.selection.fold_event_loop;
  baseline->selection.leave_out_async_callers = asked.selection.leave_out_async_callers;
  return *baseline;
}

Result<CallTree> derive_flame(Session& session, const Query& query) {
  auto drawn = draw_asked(session, query, nullptr);
  if (!drawn) return std::unexpected(drawn.error());
  return std::move(drawn->tree);
}

Result<FlameReply> answer_flame(Session& session, const Query& query) {
  const auto search = parse_search(query);
  if (!search) return std::unexpected(search.error());
  const Pattern* const pattern = *search ? &**search : nullptr;
  auto drawn = draw_asked(session, query, pattern);
  if (!drawn) return std::unexpected(drawn.error());

  const CallTree& tree = drawn->tree;
  FlameReply reply;
  reply.total = tree.total();
  reply.unit = tree.unit;
  reply.event = tree.event;
  reply.samples = drawn->samples;
  reply.depth = tree.depth();
  reply.note = tree.note;
  if (tree.is_comparison()) {
    reply.before_total = tree.changes.front().before_total;
    reply.after_total = tree.changes.front().after_total;
  }
  if (pattern != nullptr) reply.matched = drawn->matched;
  UsedLabels used(*tree.labels);
  reply.tree = tree_columns(tree, used);
  reply.labels = used.columns(pattern);
  if (!drawn->begin_ns.empty()) {
    reply.tree.begin_ns = std::move(drawn->begin_ns);
    reply.tree.end_ns = std::move(drawn->end_ns);
  }
  return reply;
}

}  // namespace nodescope::page
