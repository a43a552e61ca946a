#include "formats/perf_script/collapse.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "formats/perf_script/collapser.h"

namespace nodescope {

namespace {

using Collapsers = std::vector<std::unique_ptr<Collapser>>;

Result<void> write(const Collapsers& workers, ByteSink& sink) {
  CollapsedPaths total = workers[0]->take();
  for (std::size_t i = 1; i < workers.size(); ++i) workers[i]->add_to(total);
  const auto append_sum = [&](StackId path, std::string& line) {
    line += ' ';
    total.sums[path.index()].append_to(line);
  };
  return write_folded_paths(total.paths, total.is_written, append_sum, sink);
}

// What the script says on standard error.
Diagnostics diagnostics_of(const Collapsers& workers) {
  Diagnostics all;
  FirstInText other_event;
  FirstInText unrecognised;
  std::uint64_t unrecognised_count = 0;
  for (const auto& worker : workers) {
    other_event.offer(worker->other_event().part, worker->other_event().text);
    unrecognised.offer(worker->unrecognised().part, worker->unrecognised().text);
    unrecognised_count += worker->unrecognised_count();
    all.add(Severity::kError, "line longer than 64 MB left out", {}, worker->lines_left_out());
    all.add(Severity::kWarning, kLastSampleForgotten, {}, worker->unterminated_count());
  }
  if (!other_event.text.empty()) all.warn(kOtherEventsLeftOut, other_event.text);
  all.add(Severity::kWarning, "Unrecognized line", unrecognised.text, unrecognised_count);
  return all;
}

}  // namespace

Result<Diagnostics> collapse_perf_script(ByteSource& source, const CollapseOptions& options,
                                         const ReadOptions& read, ByteSink& sink) {
  // An empty line may be taken for a source line, so the ends of samples are not to be seen from the outside.
  // Nor may the caller's resolver be called from several threads.
  const bool can_be_cut = !options.srcline && !options.resolve_inlined;
  const std::vector<SamplePart> parts = cut_into_parts(source, can_be_cut ? read.threads : 1);
  Collapsers workers;
  for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), std::max(read.threads, 1u)); ++i) {
    workers.push_back(std::make_unique<Collapser>(options));
  }
  const auto share_event_filter = [&] {
    for (auto& worker : workers) worker->set_event_filter(workers[0]->event_filter());
    return !workers[0]->event_filter().empty();
  };
  if (const auto result = read_parts(source, read, parts, workers, share_event_filter); !result) {
    return fail(result.error(), source.name());
  }
  if (const auto written = write(workers, sink); !written) return std::unexpected(written.error());
  return diagnostics_of(workers);
}

}  // namespace nodescope
