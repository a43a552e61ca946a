#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_sink.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "v8/async_layout.h"
#include "v8/async_objects.h"
#include "v8/await_chains.h"
#include "v8/heap.h"
#include "v8/scripts.h"

namespace nodescope {

// Where an async function waits, or a combinator.
struct WaitingPlace {
  std::string function;
  std::string file;
  v8::LineColumn place;
  bool is_combinator = false;
  std::int32_t index = -1;
};

struct Awaits {
  std::string title = "Process";  // what has the pid that follows
  std::int32_t pid = 0;
  v8::BinaryVersions versions;
  std::uint64_t stopped_ns = 0;  // 0: it did not run
  v8::AwaitChains chains;
  std::vector<WaitingPlace> places;  // as those of chains
  Diagnostics diagnostics;
};

// Fills in chains, places and what is missing of them.  `heap` reads what `objects` were found in.
void derive_awaits(v8::Heap& heap, const v8::AsyncLayout& layout, const v8::AsyncObjects& objects,
                   Awaits& awaits);

// A line for each chain, at most `top` of them; 0: all.
std::string awaits_text(const Awaits& awaits, std::size_t top);
Result<void> write_awaits(const Awaits& awaits, ByteSink& sink);

}  // namespace nodescope
