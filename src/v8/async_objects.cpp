#include "v8/async_objects.h"

#include <bitset>
#include <cstring>
#include <optional>

#include "base/flat_map.h"

namespace nodescope::v8 {

namespace {

constexpr std::uint64_t kWordBytes = 8;

// A set that nearly every word is not in.
class WordSet {
 public:
  void insert(std::uint64_t word) {
    filter_.set(slot_of(word));
    words_.insert(word);
  }
  bool contains(std::uint64_t word) const { return filter_.test(slot_of(word)) && words_.contains(word); }

 private:
  static constexpr std::size_t kSlots = 4096;
  static std::size_t slot_of(std::uint64_t word) { return word / kWordBytes % kSlots; }

  std::bitset<kSlots> filter_;
  FlatSet<std::uint64_t> words_;
};

// Visits every word with its address, and the bytes from there to the end of its page.
template <typename Visit>
void for_each_word(const HeapImage& image, Progress& progress, Visit visit) {
  for (const HeapImage::Page& page : image.pages()) {
    if (page.page.kind == SpaceKind::kEvacuated) continue;
    const auto bytes = page.bytes;
    for (std::size_t offset = 0; offset + kWordBytes <= bytes.size(); offset += kWordBytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + offset, sizeof word);
      visit(page.page.range.begin.value + offset, word, bytes.subspan(offset));
    }
    progress.done_bytes += bytes.size();
  }
}

std::optional<int> type_in(std::span<const std::byte> map, const Layout& layout) {
  const auto offset = static_cast<std::size_t>(layout.map_instance_type.value);
  std::uint16_t type = 0;
  if (offset + sizeof type > map.size()) return std::nullopt;
  std::memcpy(&type, map.data() + offset, sizeof type);
  return type;
}

}  // namespace

void add_live_async_objects(const HeapObjects& live, const AsyncLayout& layout, AsyncObjects& objects) {
  live.for_each([&](std::uint32_t, const HeapObject& object) {
    const int type = object.shape->type;
    if (layout.type_promise.is(type)) objects.promises.push_back({object.tagged()});
    if (layout.type_async_function_object.is(type) || layout.type_async_generator_object.is(type))
      objects.generators.push_back({object.tagged()});
  });
}

// A map whose map it is itself is the map of all maps; V8 may have several.  They lead to the maps of the
// types in question, and these to the objects.
AsyncObjects find_async_objects(const HeapImage& image, const Layout& layout, const AsyncLayout& async,
                                Progress& progress) {
  constexpr std::uint64_t kPasses = 3;
  std::uint64_t bytes = 0;
  for (const HeapImage::Page& page : image.pages()) bytes += page.bytes.size();
  progress.total_bytes = kPasses * bytes;
  WordSet meta_maps;
  for_each_word(image, progress,
                [&](std::uint64_t address, std::uint64_t word, std::span<const std::byte> rest) {
                  if (word == address + 1 && layout.type_map.is(type_in(rest, layout).value_or(-1)))
                    meta_maps.insert(word);
                });
  WordSet generator_maps;
  WordSet promise_maps;
  for_each_word(image, progress,
                [&](std::uint64_t address, std::uint64_t word, std::span<const std::byte> rest) {
                  if (!meta_maps.contains(word)) return;
                  const int type = type_in(rest, layout).value_or(-1);
                  if (async.type_promise.is(type)) promise_maps.insert(address + 1);
                  if (async.type_async_function_object.is(type) || async.type_async_generator_object.is(type))
                    generator_maps.insert(address + 1);
                });
  AsyncObjects objects;
  for_each_word(image, progress, [&](std::uint64_t address, std::uint64_t word, std::span<const std::byte>) {
    if (promise_maps.contains(word)) objects.promises.push_back({address + 1});
    if (generator_maps.contains(word)) objects.generators.push_back({address + 1});
  });
  return objects;
}

}  // namespace nodescope::v8
