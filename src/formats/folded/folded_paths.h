#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"
#include "base/string_table.h"
#include "model/stack.h"

namespace nodescope {

// Paths of names, "a;b;c", as a trie: each distinct path is one StackId.
class FoldedPaths {
 public:
  StringId intern(std::string_view name) { return names_.intern(name); }

  // `name` holds no ';'.
  StackId push(StackId path, StringId name) { return paths_.push(path, FrameId{name.index()}); }

  // The trie itself: the FrameId of a node is the StringId of its name.
  StackTable& table() { return paths_; }

  StringId name(StackId path) const { return StringId{paths_.frame(path).index()}; }
  std::string_view text(StringId name) const { return names_[name]; }
  StackId parent(StackId path) const { return paths_.caller(path); }
  std::size_t size() const { return paths_.size(); }
  std::size_t name_count() const { return names_.size(); }

 private:
  StringTable names_;
  StackTable paths_;
};

// Writes "a;b;c COUNTS" for every path that `is_written` (by StackId) names, in the byte order of the paths'
// text. `append_counts` adds the space and what follows it.
Result<void> write_folded_paths(const FoldedPaths& paths, const std::vector<bool>& is_written,
                                const std::function<void(StackId, std::string&)>& append_counts,
                                ByteSink& sink);

}  // namespace nodescope
