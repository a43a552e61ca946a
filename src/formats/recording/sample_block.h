#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nodescope::recording {

// Where samples of a block were taken, in ids of the file.
struct BlockContext {
  std::uint32_t thread = 0;
  std::uint32_t cpu_plus_one = 0;  // 0: not known
  std::uint32_t event = 0;

  bool operator==(const BlockContext&) const = default;
};

// The samples of one chunk as columns of equal length, in ids of the file and in the order of the profile.
struct SampleBlock {
  std::vector<BlockContext> contexts;
  std::vector<std::uint32_t> context;  // index into contexts
  std::vector<std::int64_t> time_ns;
  std::vector<std::uint32_t> stack;
  std::vector<std::uint64_t> weight;

  std::size_t size() const { return stack.size(); }
  void clear();

  bool operator==(const SampleBlock&) const = default;
};

// Samples of one thread and event form a lane.  Columns are stored lane by lane, because a sample is most
// like the one before it in its own lane.
struct Lanes {
  std::vector<std::uint32_t> sizes;  // samples of each lane; lanes are numbered as contexts first name them
  std::vector<std::uint32_t> order;  // lane by lane, the places of its samples in the block

  // Buffers for building.
  std::vector<std::uint32_t> of_context;
  std::vector<std::uint32_t> next;

  void build(const SampleBlock& block);
};

// The samples section of a block that is not empty.  `first_time_ns` is its smallest time, which the chunk's
// header has.
std::string encode_samples(const SampleBlock& block, std::int64_t first_time_ns);

// Undoes it.  Whether stacks, threads and events are defined is the caller's question; all else is checked.
class SampleParser {
 public:
  // Null if the section is malformed.  Valid until the next call.
  const SampleBlock* parse(std::span<const std::byte> section, std::int64_t first_time_ns);

 private:
  SampleBlock block_;
  Lanes lanes_;
};

}  // namespace nodescope::recording
