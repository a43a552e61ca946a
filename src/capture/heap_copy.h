#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "os/copy_buffer.h"
#include "target/live_process.h"
#include "v8/heap_image.h"
#include "v8/heap_roots.h"
#include "v8/layout.h"

namespace nodescope {

// V8's heaps in a process at one moment, with all that keeps their objects alive.
struct HeapCopy {
  CopyBuffer buffer;
  std::vector<v8::HeapImage::Page> pages;
  std::vector<v8::Isolate> isolates;
  std::uint64_t stopped_ns = 0;
  std::uint64_t heap_bytes = 0;  // of all pages that were copied
};

// Stops the process, copies its heaps and lets it go on.  A heap that is just being collected does not fit
// together, so that is done again.
class HeapCopier {
 public:
  // kUnsupported unless it runs Node.js.
  static Result<HeapCopier> open(pid_t pid);

  const v8::Layout& layout() const { return *layout_; }
  std::shared_ptr<const v8::Layout> shared_layout() const { return layout_; }
  const LiveProcess& process() const { return *process_; }

  Result<HeapCopy> copy();

 private:
  HeapCopier(std::unique_ptr<LiveProcess> process, std::shared_ptr<const v8::Layout> layout)
      : process_(std::move(process)), layout_(std::move(layout)) {}

  std::unique_ptr<LiveProcess> process_;
  std::shared_ptr<const v8::Layout> layout_;
};

}  // namespace nodescope
