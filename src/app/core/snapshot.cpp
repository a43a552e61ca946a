#include "app/core/snapshot.h"

#include <fmt/format.h>

#include <vector>

#include "app/core/walked_heap.h"
#include "app/heap_files.h"
#include "app/output.h"
#include "capture/heap_graph_maker.h"

namespace nodescope {

Result<void> write_core_snapshot(CoreSession& session, const CoreSnapshotOptions& options, ByteSink& sink) {
  const pid_t pid = session.view().process().pid();
  const auto walked = session.heap();
  if (!walked) return std::unexpected(walked.error());
  session.release();
  WalkedHeap& heap = **walked;
  const bool is_stream = options.output == "-";
  if (is_stream && heap.isolates().size() > 1)
    return fail(ErrorCode::kUsage, "there are several heaps: name a file with -o, the others go beside it");
  const std::string path = options.output.empty() ? fmt::format("core-{}.heapsnapshot", pid) : options.output;
  std::vector<HeapFile> files;
  for (const WalkedHeap::IsolateObjects& isolate : heap.isolates()) {
    const auto graph = make_heap_graph(heap.image(), heap.heap().layout(), isolate.objects, isolate.isolate,
                                       {options.redact});
    if (!graph) return std::unexpected(graph.error());
    const pid_t tid = isolate.isolate.tid;
    const std::string suffix = fmt::format("{}", tid != 0 ? tid : static_cast<pid_t>(files.size()));
    const std::string file = files.empty() ? path : with_suffix(path, suffix);
    auto written = write_heap_file(*graph, tid, session.view().process().thread_name(tid), file);
    if (!written) return std::unexpected(written.error());
    files.push_back(std::move(*written));
  }
  if (is_stream) return {};
  if (!options.json) return sink.write(heap_files_text(files));
  json::Writer json(sink);
  json.begin_object().key("file").string(path);
  write_heap_files(json, files);
  json.end_object();
  return json.finish();
}

}  // namespace nodescope
