#include "capture/heap_take.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "target/live_memory.h"

namespace nodescope {

namespace {

constexpr int kMaxTakes = 12;
constexpr std::chrono::milliseconds kBetweenTakes{20};

// What a running process has in files: it does not change.
class MappedFiles final : public Memory {
 public:
  explicit MappedFiles(const LiveProcess& process) : map_(process.map()), memory_(process.pid()) {}

  bool read(Address address, std::span<std::byte> into) override {
    const Region* region = map_.find(address);
    return region != nullptr && region->has_file() && !region->writable &&
           into.size() <= region->range.end - address && memory_.read(address, into);
  }

 private:
  MemoryMap map_;
  LiveMemory memory_;
};

}  // namespace

Result<HeapTake> HeapTake::take(HeapCopier& copier) {
  HeapTake best;
  std::uint64_t fewest = ~std::uint64_t{0};
  std::uint64_t longest = 0;
  for (int i = 0; i < kMaxTakes && fewest != 0; ++i) {
    if (i != 0) std::this_thread::sleep_for(kBetweenTakes);
    auto copy = copier.copy();
    if (!copy) return std::unexpected(copy.error());
    longest = std::max(longest, copy->stopped_ns);
    HeapTake take;
    take.layout_ = copier.shared_layout();
    take.copy_ = std::make_unique<HeapCopy>(std::move(*copy));
    take.rest_ = std::make_unique<MappedFiles>(copier.process());
    take.mark();
    if (const std::uint64_t broken = take.broken_references(); broken < fewest) {
      fewest = broken;
      best = std::move(take);
    }
  }
  best.copy_->stopped_ns = longest;
  if (best.infos_.empty())
    return fail(ErrorCode::kUnsupported,
                fmt::format("the heap of process {} was not found: its V8 ({}) keeps it in another way",
                            copier.process().pid(), best.layout_->versions.v8));
  return best;
}

void HeapTake::mark() {
  image_ = std::make_unique<v8::HeapImage>(std::move(copy_->pages), *rest_);
  shapes_ = std::make_unique<v8::ObjectShapes>(*image_, *layout_);
  std::erase_if(copy_->isolates, [](const v8::Isolate& isolate) { return isolate.isolate.value == 0; });
  for (const v8::Isolate& isolate : copy_->isolates) {
    objects_.push_back(v8::HeapObjects::mark(*shapes_, isolate));
    infos_.push_back({isolate.tid, objects_.back().size()});
  }
}

std::uint64_t HeapTake::broken_references() const {
  std::uint64_t broken = 0;
  for (const v8::HeapObjects& objects : objects_) broken += objects.check().broken_references;
  return broken;
}

Result<HeapGraph> HeapTake::graph(std::size_t isolate, const HeapGraphOptions& options) {
  return make_heap_graph(*image_, *layout_, objects_[isolate], copy_->isolates[isolate], options);
}

}  // namespace nodescope
