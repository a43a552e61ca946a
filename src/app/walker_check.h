#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "v8/process_view.h"

namespace nodescope {

// What some short stops of a process showed.
struct WalkerCounts {
  std::size_t stops = 0;
  std::size_t stacks = 0;
  std::size_t incomplete = 0;  // stacks that end before their outermost frame
  std::size_t js = 0;          // frames of JavaScript, inlined ones too
  std::size_t unknown = 0;     // of these: [unknown js]
  std::size_t without_line = 0;
  std::size_t unsure = 0;  // a line is shown, and marked as not sure
  std::size_t optimized = 0;
  std::size_t inlined = 0;
  std::uint64_t longest_stop_ns = 0;
};

enum class Trust : std::uint8_t { kTrusted, kDoubtful, kNotSeen };

std::string_view to_string(Trust trust);

struct TrustIn {
  Trust trust = Trust::kNotSeen;
  std::string why;
};

// Which part of a frame can be believed.
struct WalkerVerdict {
  TrustIn names, lines, inlined;
};

// Stops the process some times, for milliseconds each, over about a second.
Result<WalkerCounts> test_walker(v8::ProcessView& view, Diagnostics& diagnostics);

WalkerVerdict derive_verdict(const WalkerCounts& counts, bool known_version);

}  // namespace nodescope
