#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "binary/address.h"
#include "v8/heap.h"

namespace nodescope::v8 {

// What a function was called with, as text.
struct Arguments {
  std::string receiver;             // `this`, as the caller gave it
  std::vector<std::string> values;  // the first kMaxShownArguments of them
  std::size_t count = 0;            // how many the caller gave
  bool sure = true;                 // false: in optimized code, which may have left old values there
  // Where the objects among them are; zero for those that are none.
  Address receiver_address;
  std::vector<Address> addresses;

  bool operator==(const Arguments&) const = default;
};

constexpr std::size_t kMaxShownArguments = 10;

// The arguments that lie above a frame of JavaScript.  Nothing when there is no plausible count of them.
std::optional<Arguments> read_arguments(Heap& heap, Address frame_pointer);

}  // namespace nodescope::v8
