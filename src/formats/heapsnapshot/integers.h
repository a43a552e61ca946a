#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "formats/heapsnapshot/job_queue.h"
#include "formats/heapsnapshot/text_window.h"

namespace nodescope {

// Where the numbers of an array go.
class IntegerSink {
 public:
  virtual ~IntegerSink() = default;
  // Numbers `first` and following.  A negative one is its two's complement.  Called by several threads, in
  // any order.
  virtual void store(std::uint64_t first, std::span<const std::uint64_t> values) = 0;
};

// Reads an array of integers to the bracket behind it and says how many there were.  Pieces of the text are
// counted by one thread, which knows then where the numbers of each go, and parsed by all.  Anything but
// integers, and an end within the array, is an Error.
Result<std::uint64_t> read_integers(TextWindow& window, JobQueue& jobs, IntegerSink& sink);

}  // namespace nodescope
