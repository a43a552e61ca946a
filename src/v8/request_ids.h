#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/flat_map.h"
#include "v8/async_layout.h"
#include "v8/heap.h"
#include "v8/scripts.h"
#include "v8/value_decoder.h"

namespace nodescope::v8 {

// Which request an async function works for, as the program itself says in an AsyncLocalStorage: the property
// of one name in its store, the entry of that name where the store is a Map, or the store itself where that
// is a string or a number.  Nothing else of the users' data is read.
class RequestIds {
 public:
  static constexpr std::size_t kMaxUnits = 200;

  RequestIds(Heap& heap, const AsyncLayout& layout, const ValueFacts& facts, Scripts& scripts,
             std::string property)
      : heap_(heap), layout_(layout), decoder_(heap, facts, scripts), property_(std::move(property)) {}

  // Of what waits by `reaction`; empty: it has none.
  const std::string& of(TaggedWord reaction);

 private:
  std::string read_frame(TaggedWord frame);
  std::string read_resource(TaggedWord resource);
  std::string id_in_store(TaggedWord store);

  Heap& heap_;
  const AsyncLayout& layout_;
  ValueDecoder decoder_;
  std::string property_;
  FlatMap<std::uint64_t, std::string> known_;  // by the frame or resource
};

}  // namespace nodescope::v8
