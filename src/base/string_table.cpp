#include "base/string_table.h"

#include <algorithm>
#include <cstring>

namespace nodescope {

namespace {
constexpr std::size_t kBlockBytes = 64 * 1024;
}

StringTable::StringTable() {
  views_.emplace_back("");
  ids_.emplace(views_[0], StringId{});
}

StringId StringTable::intern(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const StringId id{views_.size()};
  views_.push_back(store(text));
  ids_.emplace(views_.back(), id);
  return id;
}

std::size_t StringTable::memory_bytes() const {
  return block_bytes_ + views_.capacity() * sizeof(std::string_view) +
         ids_.bucket_count() * (sizeof(std::string_view) + sizeof(StringId) + 1);
}

std::string_view StringTable::store(std::string_view text) {
  if (text.size() > free_bytes_) {
    free_bytes_ = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(free_bytes_));
    free_ = blocks_.back().get();
    block_bytes_ += free_bytes_;
  }
  std::memcpy(free_, text.data(), text.size());
  const std::string_view stored(free_, text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return stored;
}

}  // namespace nodescope
