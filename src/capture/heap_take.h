#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "capture/heap_copy.h"
#include "capture/heap_graph_maker.h"
#include "model/heap_graph.h"
#include "target/memory.h"
#include "v8/heap_objects.h"
#include "v8/object_shape.h"

namespace nodescope {

// The heaps of a running process at one moment: stopped, copied, let go on, and then checked.  In a whole
// heap every reference leads to an object; a copy from the middle of a collection is thrown away and made
// again.
class HeapTake {
 public:
  static Result<HeapTake> take(HeapCopier& copier);

  struct IsolateInfo {
    pid_t tid = 0;  // 0: not known
    std::uint32_t objects = 0;
  };
  const std::vector<IsolateInfo>& isolates() const { return infos_; }
  // Of one of them.
  Result<HeapGraph> graph(std::size_t isolate, const HeapGraphOptions& options);

  std::uint64_t stopped_ns() const { return copy_->stopped_ns; }  // the longest time, where it took several
  std::uint64_t heap_bytes() const { return copy_->heap_bytes; }

 private:
  HeapTake() = default;
  void mark();
  std::uint64_t broken_references() const;

  std::shared_ptr<const v8::Layout> layout_;
  std::unique_ptr<HeapCopy> copy_;
  std::unique_ptr<Memory> rest_;
  std::unique_ptr<v8::HeapImage> image_;
  std::unique_ptr<v8::ObjectShapes> shapes_;
  std::vector<v8::HeapObjects> objects_;  // by isolate
  std::vector<IsolateInfo> infos_;
};

}  // namespace nodescope
