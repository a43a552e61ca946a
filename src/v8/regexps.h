#pragma once

#include <optional>
#include <string>

#include "base/flat_map.h"
#include "v8/code_finder.h"
#include "v8/heap.h"

namespace nodescope::v8 {

// The patterns of regular expressions, by the machine code that runs them.  The code does not know its
// pattern, but whoever called it holds the regular expression, and that knows its code.  V8 drops such code
// often and may have put other code in its place since a sample was taken: so only the nearest regular
// expression on the stack counts, because further out there may be others that were used before.
class RegExps {
 public:
  explicit RegExps(Heap& heap) : heap_(heap) {}

  // `stack` is where the frames around the code's own begin.  Empty: it cannot be told.
  std::string pattern(const CodeFinder::Found& found, Address stack);

  // The memory may have changed.
  void begin_generation();

 private:
  std::optional<std::string> search(const Code& code, Address stack);
  std::optional<TaggedWord> nearest_data(Address stack);
  std::optional<TaggedWord> data_of(TaggedWord candidate);
  bool has_source(TaggedWord data);
  bool holds(TaggedWord data, TaggedWord code);

  Heap& heap_;
  // By CodeId.  A regular expression that was moved meanwhile is not found on the stack; its code is known if
  // it was there in an earlier generation, and so before the sample.
  FlatMap<std::size_t, std::string> patterns_;
  FlatMap<std::size_t, std::string> new_patterns_;
};

}  // namespace nodescope::v8
