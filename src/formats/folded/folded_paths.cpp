#include "formats/folded/folded_paths.h"

#include <algorithm>
#include <numeric>

namespace nodescope {

namespace {

constexpr std::size_t kWriteBytes = 256 * 1024;

// What comes below a path, in order: the line of a path that ends here, and all lines that go on from it. The
// two are apart, because "a" is less than "a b" and "a b" is less than "a;c".
struct Item {
  StackId path;
  bool goes_on = false;
};

// The place of each name in the byte order of the lines, as an end of a line and as an inner name.
struct Ranks {
  std::vector<std::uint32_t> at_end;
  std::vector<std::uint32_t> inside;
};

Ranks rank_names(const FoldedPaths& paths) {
  struct Key {
    std::string_view name;
    std::uint32_t id;
    bool goes_on;
  };
  std::vector<Key> keys;
  keys.reserve(2 * paths.name_count());
  for (std::uint32_t id = 0; id < paths.name_count(); ++id) {
    const std::string_view name = paths.text(StringId{id});
    keys.push_back({name, id, false});
    keys.push_back({name, id, true});
  }
  std::ranges::sort(keys, [](const Key& a, const Key& b) {
    const std::size_t common = std::min(a.name.size(), b.name.size());
    if (const int order = a.name.substr(0, common).compare(b.name.substr(0, common)); order != 0)
      return order < 0;
    const auto next = [&](const Key& key) {
      if (key.name.size() > common) return static_cast<int>(static_cast<unsigned char>(key.name[common]));
      return key.goes_on ? static_cast<int>(';') : -1;
    };
    if (next(a) != next(b)) return next(a) < next(b);
    return a.name.size() < b.name.size();
  });
  Ranks ranks{std::vector<std::uint32_t>(paths.name_count()), std::vector<std::uint32_t>(paths.name_count())};
  for (std::uint32_t rank = 0; rank < keys.size(); ++rank) {
    (keys[rank].goes_on ? ranks.inside : ranks.at_end)[keys[rank].id] = rank;
  }
  return ranks;
}

// Stable, in linear time.
template <typename KeyOf>
void counting_sort(std::vector<Item>& items, std::size_t key_count, KeyOf key_of) {
  std::vector<std::uint32_t> places(key_count + 1);
  for (const Item& item : items) ++places[key_of(item) + 1];
  std::partial_sum(places.begin(), places.end(), places.begin());
  std::vector<Item> sorted(items.size());
  for (const Item& item : items) sorted[places[key_of(item)]++] = item;
  items = std::move(sorted);
}

class Writer {
 public:
  Writer(const FoldedPaths& paths, const std::vector<bool>& is_written,
         const std::function<void(StackId, std::string&)>& append_counts, ByteSink& sink)
      : paths_(paths), is_written_(is_written), append_counts_(append_counts), sink_(sink) {
    order_items();
  }

  Result<void> write() {
    if (is_written_[0]) write_line(kEmptyStack);
    std::vector<Level> levels = {{first_[0], first_[1], 0}};
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.next == level.end) {
        levels.pop_back();
        continue;
      }
      const Item item = items_[level.next++];
      path_.resize(level.path_size);
      path_ += paths_.text(paths_.name(item.path));
      if (!item.goes_on) {
        write_line(item.path);
        if (text_.size() < kWriteBytes) continue;
        if (const auto written = flush(); !written) return written;
        continue;
      }
      path_ += ';';
      levels.push_back({first_[item.path.index()], first_[item.path.index() + 1], path_.size()});
    }
    return flush();
  }

 private:
  struct Level {
    std::uint32_t next;
    std::uint32_t end;
    std::size_t path_size;
  };

  void order_items() {
    const Ranks ranks = rank_names(paths_);
    std::vector<bool> has_children(paths_.size());
    for (std::size_t i = 1; i < paths_.size(); ++i) has_children[paths_.parent(StackId{i}).index()] = true;
    for (std::size_t i = 1; i < paths_.size(); ++i) {
      if (is_written_[i]) items_.push_back({StackId{i}, false});
      if (has_children[i]) items_.push_back({StackId{i}, true});
    }
    counting_sort(items_, 2 * paths_.name_count(), [&](const Item& item) {
      return (item.goes_on ? ranks.inside : ranks.at_end)[paths_.name(item.path).index()];
    });
    const auto parent_of = [&](const Item& item) { return paths_.parent(item.path).index(); };
    counting_sort(items_, paths_.size(), parent_of);
    first_.resize(paths_.size() + 1);
    for (const Item& item : items_) ++first_[parent_of(item) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
  }

  void write_line(StackId path) {
    text_ += path_;
    append_counts_(path, text_);
    text_ += '\n';
  }

  Result<void> flush() {
    const auto written = sink_.write(text_);
    text_.clear();
    return written;
  }

  const FoldedPaths& paths_;
  const std::vector<bool>& is_written_;
  const std::function<void(StackId, std::string&)>& append_counts_;
  ByteSink& sink_;
  std::vector<Item> items_;           // grouped by parent, in order
  std::vector<std::uint32_t> first_;  // of each parent in items_
  std::string path_;
  std::string text_;
};

}  // namespace

Result<void> write_folded_paths(const FoldedPaths& paths, const std::vector<bool>& is_written,
                                const std::function<void(StackId, std::string&)>& append_counts,
                                ByteSink& sink) {
  return Writer(paths, is_written, append_counts, sink).write();
}

}  // namespace nodescope
