#include "formats/read_heap.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/heapsnapshot/heapsnapshot.h"
#include "formats/input.h"

namespace nodescope {

namespace {

Error not_a_heap(const PeekableSource& input) {
  const auto formats = all_formats();
  const auto profile = std::ranges::find_if(formats, [&](const Format* format) {
    return format->recognise != nullptr && format->recognise(input.head());
  });
  if (profile == formats.end() || input.head().empty())
    return {ErrorCode::kInvalidInput, fmt::format("{}: not a heap snapshot", input.name())};
  return {ErrorCode::kInvalidInput,
          fmt::format("{0}: a profile ({1}), not a heap snapshot: try nodescope report or nodescope view",
                      input.name(), (*profile)->name)};
}

}  // namespace

Result<HeapGraph> read_heap(std::unique_ptr<ByteSource> source, const ReadOptions& options) {
  auto content = open_content(std::move(source));
  if (!content) return std::unexpected(std::move(content.error()));
  PeekableSource& input = **content;
  if (!is_heap_snapshot(input.head())) return std::unexpected(not_a_heap(input));
  if (options.progress != nullptr) options.progress->total_bytes = input.size().value_or(0);
  auto graph = read_heap_snapshot(input, options);
  if (!graph) {
    for (const Diagnostic& entry : input.damage().entries())
      graph.error().message += fmt::format(" ({}: {})", entry.what, entry.example);
    return graph;
  }
  graph->diagnostics.merge(input.damage());
  return graph;
}

}  // namespace nodescope
