#include "formats/perf_data/record_queue.h"

#include <algorithm>
#include <utility>

namespace nodescope::perf {

std::uint32_t RecordQueue::add_block(std::unique_ptr<std::byte[]> memory, std::size_t size_bytes) {
  block_bytes_ += size_bytes;
  Block block{std::move(memory), size_bytes, 1};
  if (free_blocks_.empty()) {
    blocks_.push_back(std::move(block));
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  const std::uint32_t index = free_blocks_.back();
  free_blocks_.pop_back();
  blocks_[index] = std::move(block);
  return index;
}

void RecordQueue::release(std::uint32_t index) {
  if (index == kNoBlock) return;
  Block& block = blocks_[index];
  if (--block.users != 0) return;
  block_bytes_ -= block.size_bytes;
  block.memory.reset();
  free_blocks_.push_back(index);
}

void RecordQueue::push(Entry entry) {
  if (entry.block != kNoBlock) ++blocks_[entry.block].users;
  newest_ = std::max(newest_, entry.time);
  entries_.push_back(entry);
}

// A merge sort that begins with the runs that are there: the buffer of each processor is in order already.
void RecordQueue::sort() {
  const auto earlier = [](const Entry& a, const Entry& b) { return a.time < b.time; };
  std::vector<std::size_t> runs = {0};
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    if (earlier(entries_[i], entries_[i - 1])) runs.push_back(i);
  }
  while (runs.size() > 1) {
    merged_.resize(entries_.size());
    std::vector<std::size_t> longer;
    for (std::size_t i = 0; i < runs.size(); i += 2) {
      const auto at = [&](std::size_t run) {
        return entries_.begin() +
               static_cast<std::ptrdiff_t>(run < runs.size() ? runs[run] : entries_.size());
      };
      std::merge(at(i), at(i + 1), at(i + 1), at(i + 2),
                 merged_.begin() + static_cast<std::ptrdiff_t>(runs[i]), earlier);
      longer.push_back(runs[i]);
    }
    runs = std::move(longer);
    entries_.swap(merged_);
  }
}

}  // namespace nodescope::perf
