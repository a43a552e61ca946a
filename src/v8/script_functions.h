#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "v8/heap.h"

namespace nodescope::v8 {

// Finds the function that owns a bytecode through the lists of functions that scripts keep.  A function that
// runs for the first times is known only by its closure, which is young: when a collector has moved that
// twice since the stack was copied, the list is what is left.
class ScriptFunctions {
 public:
  explicit ScriptFunctions(Heap& heap) : heap_(heap) {}

  // A script with a function on a stack.  The few last ones are looked through.
  void note(TaggedWord script);

  // The script of the functions that this bytecode makes closures of.
  void note_script_of(TaggedWord bytecode);

  // The SharedFunctionInfo, which the caller must check: it may be outdated.
  std::optional<TaggedWord> find(TaggedWord bytecode);

  // The memory may have changed.
  void begin_generation() { ++generation_; }

 private:
  // A large script has ten thousands of functions, so that a look takes a millisecond or two.
  static constexpr std::uint64_t kGenerationsBetweenLooks = 4;
  static constexpr std::size_t kMaxScripts = 8;

  struct Noted {
    TaggedWord script;
    std::uint64_t looked_at = 0;  // generation; 0: never
  };

  void look_through(TaggedWord script);
  std::optional<TaggedWord> list_of(TaggedWord script);
  std::optional<TaggedWord> array_with_functions(TaggedWord object, std::int64_t first, std::int64_t last,
                                                 std::int32_t elements);

  Heap& heap_;
  std::vector<Noted> noted_;                   // the last one last
  FlatMap<std::uint64_t, TaggedWord> owners_;  // by bytecode
  std::uint64_t generation_ = 1;
};

}  // namespace nodescope::v8
