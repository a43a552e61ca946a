#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace nodescope::perf {

// Puts records in the order of their times.
//
// perf writes the buffers of the processors one after the other and then a FINISHED_ROUND, so records are out
// of order, but never by more than a round: what comes after a round is not older than what was before the
// previous one (tools/perf/util/ordered-events.c).  So a finished round lets go of everything up to the
// newest record of the round before, and only two rounds are kept.
//
// Memory that records lie in and that nobody else keeps is given to the queue as a block and freed with its
// last record.
class RecordQueue {
 public:
  struct Entry {
    std::uint64_t time = 0;
    const std::byte* record = nullptr;  // its header
    std::uint32_t block = kNoBlock;
  };
  static constexpr std::uint32_t kNoBlock = UINT32_MAX;

  std::uint32_t add_block(std::unique_ptr<std::byte[]> memory, std::size_t size_bytes);
  // No more records of this block will be added.
  void close_block(std::uint32_t block) { release(block); }

  void push(Entry entry);

  // Calls process(entry) for the records that a finished round lets go of, in order.
  template <typename Process>
  void finish_round(Process process) {
    flush_until(round_limit_, process);
    round_limit_ = newest_;
  }
  // The same for all of them, at the end.
  template <typename Process>
  void finish(Process process) {
    flush_until(UINT64_MAX, process);
  }

  std::size_t block_bytes() const { return block_bytes_; }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size_bytes = 0;
    std::uint32_t users = 0;  // records in the queue, and one until it is closed
  };

  template <typename Process>
  void flush_until(std::uint64_t limit, Process process) {
    sort();
    std::size_t done = 0;
    while (done < entries_.size() && entries_[done].time <= limit) {
      process(entries_[done]);
      release(entries_[done].block);
      ++done;
    }
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(done));
  }

  void sort();
  void release(std::uint32_t block);

  std::vector<Entry> entries_;
  std::vector<Entry> merged_;  // of sort(), kept for its memory
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> free_blocks_;
  std::size_t block_bytes_ = 0;
  std::uint64_t newest_ = 0;
  std::uint64_t round_limit_ = 0;
};

}  // namespace nodescope::perf
