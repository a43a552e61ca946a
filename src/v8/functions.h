#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/flat_map.h"
#include "v8/heap.h"
#include "v8/object_cache.h"
#include "v8/objects.h"
#include "v8/scripts.h"

namespace nodescope::v8 {

// A function, whichever closure of it runs.
struct Function {
  SharedFunctionInfo shared;
  std::optional<ScriptId> script;
  std::string name;  // that all closures have; may be empty

  // A closure may have a name of its own, or is named by its receiver's class and the property that holds it.
  // What was found so far, by what it was found by: when a collector has moved the closure, and there was
  // only one name, it is that.
  FlatMap<std::uint64_t, std::string> found_names;
  std::uint32_t finds = 0;          // how often one was
  bool has_plain_closures = false;  // that have no other name than all
};

// Which closure runs in a frame, and on what.
struct Closure {
  TaggedWord function;
  std::optional<TaggedWord> receiver = {};
  // Where they were when the stack was copied, unless nothing has moved since: there may be others by now.
  std::optional<TaggedWord> function_then = {};
  std::optional<TaggedWord> receiver_then = {};
};

// The functions of a process, each read once.
class Functions {
 public:
  Functions(Heap& heap, Scripts& scripts) : heap_(heap), scripts_(scripts) {}

  // Null unless `shared` is a SharedFunctionInfo.  Valid until the next generation.
  Function* find(TaggedWord shared);

  // As V8's own stack prints it; empty when V8 knows none either, or when it is not to be had any more.
  std::string name(Function& function, const std::optional<Closure>& closure);

  // The memory may have changed.
  void begin_generation();

 private:
  std::optional<Function> read(TaggedWord shared);
  void find_script(Function& function);
  bool may_have_own_name(TaggedWord closure);
  std::string own_name(Function& function, TaggedWord closure);
  std::string looked_up_name(Function& function, const Closure& closure);
  std::string name_of_closure(Function& function, const Closure& closure);
  bool may_be_another(const Closure& closure);

  Heap& heap_;
  Scripts& scripts_;
  ObjectCache<Function> functions_;
  FlatMap<std::uint64_t, bool> own_names_by_map_;
};

}  // namespace nodescope::v8
