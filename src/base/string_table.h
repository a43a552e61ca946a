#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "base/id.h"

namespace nodescope {

struct StringTag;
using StringId = Id<StringTag>;

// Interned text.  Id 0 is always the empty string.  Views stay valid as long as the table lives, also when
// it is moved.
class StringTable {
 public:
  StringTable();
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;

  StringId intern(std::string_view text);
  std::string_view operator[](StringId id) const { return views_[id.index()]; }
  std::size_t size() const { return views_.size(); }
  std::size_t memory_bytes() const;

 private:
  std::string_view store(std::string_view text);

  FlatMap<std::string_view, StringId> ids_;
  std::vector<std::string_view> views_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  std::size_t free_bytes_ = 0;
  std::size_t block_bytes_ = 0;
};

}  // namespace nodescope
