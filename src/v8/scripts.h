#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "base/id.h"
#include "v8/heap.h"
#include "v8/object_cache.h"
#include "v8/strings.h"

namespace nodescope::v8 {

struct ScriptTag;
using ScriptId = Id<ScriptTag>;

struct LineColumn {
  std::uint32_t line = 0;    // 1-based
  std::uint32_t column = 0;  // 1-based, in UTF-16 units

  bool operator==(const LineColumn&) const = default;
};

// The scripts that functions come from, each read once.  Reading copies the source; the lines are counted
// when they are first asked for, which may be after the process goes on, and then the copy is let go.
class Scripts {
 public:
  // Nothing unless `word` is a Script.
  std::optional<ScriptId> load(Heap& heap, TaggedWord word);

  // That of a module of WebAssembly: its places are single bytes, all in one line.
  std::optional<ScriptId> load_module(Heap& heap, TaggedWord word);

  // The path or URL that V8 prints; empty for code without one, such as eval.
  const std::string& name(ScriptId id) const { return scripts_[id.index()].name; }
  // Made by eval() or new Function().
  bool is_eval(ScriptId id) const { return scripts_[id.index()].is_eval; }
  // Of such code, as V8 prints it: "eval at create (/app/factory.js:102:10)".  Empty where it has a name.
  const std::string& origin(ScriptId id) const { return scripts_[id.index()].origin; }

  // Nothing when the source is not known or `offset` is not in it.
  std::optional<LineColumn> place(ScriptId id, std::int32_t offset);

  // The memory may have changed.  Ids stay what they are.
  void begin_generation() { ids_.begin_generation(); }

 private:
  struct Script {
    std::string name;
    std::string origin;
    bool is_eval = false;
    bool is_module = false;
    std::int32_t line_offset = 0;
    std::int32_t column_offset = 0;
    std::optional<FlatString> source;  // until its lines are counted
    std::size_t length = 0;
    std::vector<std::uint32_t> line_begins;
  };

  std::optional<ScriptId> read(Heap& heap, TaggedWord word);
  std::string derive_origin(Heap& heap, TaggedWord word);
  static std::vector<std::uint32_t> derive_line_begins(const FlatString& source);

  std::vector<Script> scripts_;
  ObjectCache<ScriptId> ids_;
  FlatMap<std::uint64_t, int> attempts_;  // to read a script, by its address
  int evals_within_evals_ = 0;            // while the outermost of them is read
};

}  // namespace nodescope::v8
