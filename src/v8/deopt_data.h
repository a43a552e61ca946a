#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "v8/code_finder.h"
#include "v8/heap.h"
#include "v8/positions.h"
#include "v8/translations.h"

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
  // The functions that are active in a call that returns to `return_address`, outermost
  // first.  Nothing where V8 keeps no record of the call, and in versions whose records are not known.
  std::optional<std::vector<TranslatedFrame>> active_frames(Heap& heap, const Code& code,
                                                            Address return_address) const;
  // The closures of this function that the code refers to.
  std::vector<TaggedWord> closures_of(Heap& heap, TaggedWord shared) const;
  // The function that a translation means by this number.
  std::optional<TaggedWord> shared_literal(Heap& heap, std::int32_t index) const;

 private:
  DeoptData() = default;

  TaggedWord array_;
  std::int32_t length_ = 0;
  TaggedWord shared_;
  TaggedWord literals_;
  std::int32_t literal_count_ = 0;
  std::string calls_;
};

}  // namespace nodescope::v8
