#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "base/id.h"
#include "v8/heap.h"
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
// when they are asked for, which may be after the process goes on.
class Scripts {
 public:
  // Nothing unless `word` is a Script.
  std::optional<ScriptId> load(Heap& heap, TaggedWord word);

  // The path or URL that V8 prints; empty for code without one, such as eval.
  const std::string& name(ScriptId id) const { return scripts_[id.index()].name; }
  // Made by eval() or new Function().
  bool is_eval(ScriptId id) const { return scripts_[id.index()].is_eval; }

  // Nothing when the source is not known or `offset` is not in it.
  std::optional<LineColumn> place(ScriptId id, std::int32_t offset);

  // Scripts may have moved or changed.
  void forget();

 private:
  struct Script {
    std::string name;
    bool is_eval = false;
    std::int32_t line_offset = 0;
    std::int32_t column_offset = 0;
    std::optional<FlatString> source;
    std::vector<std::uint32_t> line_begins;  // empty: not counted yet
  };

  static std::vector<std::uint32_t> derive_line_begins(const FlatString& source);

  std::vector<Script> scripts_;
  FlatMap<std::uint64_t, ScriptId> ids_;
};

}  // namespace nodescope::v8
