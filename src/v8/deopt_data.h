#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "v8/code_finder.h"
#include "v8/heap.h"
#include "v8/positions.h"

namespace nodescope::v8 {

// An inlined call: where in its caller it is, and which function it calls.
struct InlinedCall {
  SourcePosition caller;
  TaggedWord shared;
};

// What optimized code remembers about the functions that it was made from.
class DeoptData {
 public:
  static std::optional<DeoptData> load(Heap& heap, const Code& code);

  // The function that the code belongs to.
  TaggedWord shared() const { return shared_; }
  // Nothing when there is no call of this number or its function cannot be read.
  std::optional<InlinedCall> inlined_call(Heap& heap, std::int32_t inlining_id) const;

 private:
  DeoptData() = default;

  TaggedWord shared_;
  TaggedWord literals_;
  std::int32_t literal_count_ = 0;
  std::string calls_;
};

}  // namespace nodescope::v8
