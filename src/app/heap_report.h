#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/heap_diff.h"
#include "analysis/heap/leak.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

struct HeapReportOptions {
  bool json = false;
  std::size_t top = 30;     // rows of a text; 0: all
  std::size_t columns = 0;  // of the terminal; 0: names are not cut
};

// What each command of `nodescope heap` prints.
Result<void> write_heap_summary(const HeapAnalysis& heap, const HeapReportOptions& options, ByteSink& sink);
Result<void> write_heap_dominators(const HeapAnalysis& heap, const HeapReportOptions& options,
                                   ByteSink& sink);
Result<void> write_heap_strings(const HeapAnalysis& heap, const HeapReportOptions& options, ByteSink& sink);
Result<void> write_heap_closures(const HeapAnalysis& heap, const HeapReportOptions& options, ByteSink& sink);
// kNotFound for a snapshot without allocation stacks.
Result<void> write_heap_allocations(const HeapAnalysis& heap, const HeapReportOptions& options,
                                    ByteSink& sink);
// kNotFound when no object has this id, or none is of this class; "*" is every class.
Result<void> write_heap_retainers(const HeapAnalysis& heap, std::uint64_t id,
                                  const HeapReportOptions& options, ByteSink& sink);
Result<void> write_heap_objects(const HeapAnalysis& heap, std::string_view class_name,
                                const HeapReportOptions& options, ByteSink& sink);
Result<void> write_heap_diff(const HeapDiff& diff, const LeakAnswer& answer, const HeapReportOptions& options,
                             ByteSink& sink);

}  // namespace nodescope
