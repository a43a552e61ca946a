#include "v8/heap_objects.h"

#include <algorithm>
#include <bit>

#include "base/flat_map.h"

namespace nodescope::v8 {

namespace {

constexpr std::uint64_t kWordBytes = 8;

// Where instructions begin in an InstructionStream.
constexpr std::uint64_t kStreamHeader = 32;

bool is_reference(std::uint64_t word) {
  return (word & 1) != 0 && (word & 4) == 0;
}

// As for_each_slot, without the cost of a std::function.
template <typename Visit>
void visit_slots(const ObjectShapes& shapes, const HeapObject& object, const Visit& visit) {
  const ObjectShape& shape = *object.shape;
  const std::uint64_t size = object.bytes.size();
  std::uint64_t begin = kWordBytes;
  std::uint64_t end = size;
  switch (shape.slot_rule) {
    case SlotRule::kNone:
      return;
    case SlotRule::kAll:
      break;
    case SlotRule::kLinkedString:
      begin = 2 * kWordBytes;
      break;
    case SlotRule::kHeader:
      end = std::min<std::uint64_t>(size, shape.header_bytes / kWordBytes * kWordBytes);
      break;
    case SlotRule::kTail:
      begin = std::min<std::uint64_t>(
          size, (16 + static_cast<std::uint64_t>(static_cast<std::uint32_t>(object.word(8))) + 7) / 8 * 8);
      break;
    case SlotRule::kCode:
      end = std::min<std::uint64_t>(size, kStreamHeader + kWordBytes);
      break;
  }
  std::uint64_t weak_begin = size;
  std::uint64_t weak_end = size;
  if (shape.weak_rule == WeakRule::kOneField || shape.weak_rule == WeakRule::kTwoFields) {
    weak_begin = shape.weak_offset;
    weak_end = weak_begin + (shape.weak_rule == WeakRule::kOneField ? 1 : 2) * kWordBytes;
  } else if (shape.weak_rule == WeakRule::kNativeContext) {
    // Lists of optimized code, until they were given up, and the next context.
    const std::uint64_t count = shapes.layout().version < Version{11, 0, 0} ? 3 : 1;
    const std::uint64_t elements_end = 16 + (object.word(8) >> 32) * kWordBytes;
    if (elements_end <= size && elements_end >= 16 + count * kWordBytes) {
      weak_begin = elements_end - count * kWordBytes;
      weak_end = elements_end;
    }
  } else if (shape.weak_rule == WeakRule::kEphemerons) {
    weak_begin = 40;  // the entries
  }
  const std::byte* bytes = object.bytes.data();
  for (std::uint64_t offset = begin; offset + kWordBytes <= end; offset += kWordBytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + offset, sizeof word);
    if (is_reference(word))
      visit(HeapSlot{offset, word, (word & 2) != 0 || (offset >= weak_begin && offset < weak_end)});
  }
}

// References in instructions are not aligned.  Optimized code does not keep objects alive that belong to the
// program (Code::IsWeakObjectInOptimizedCode), and other code has none.
template <typename Visit>
void visit_instructions(const HeapObject& code, const Visit& visit) {
  for (std::uint64_t offset = kStreamHeader + kWordBytes; offset + kWordBytes <= code.bytes.size();
       ++offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, code.bytes.data() + offset, sizeof word);
    if ((word & 7) == 1) visit(word);
  }
}

}  // namespace

void for_each_slot(const ObjectShapes& shapes, const HeapObject& object,
                   const std::function<void(const HeapSlot&)>& visit) {
  visit_slots(shapes, object, visit);
}

// A hash table: the numbers of entries, of deleted ones, and the capacity, then pairs.
void for_each_ephemeron(const HeapObject& table, const std::function<void(const Ephemeron&)>& visit) {
  constexpr std::uint64_t kFirst = 40;
  for (std::uint64_t offset = kFirst; offset + 2 * kWordBytes <= table.bytes.size();
       offset += 2 * kWordBytes) {
    const Ephemeron pair{table.word(offset), table.word(offset + kWordBytes),
                         static_cast<std::uint32_t>((offset - 16) / kWordBytes)};
    if (is_reference(pair.key)) visit(pair);
  }
}

// Marks what is reachable, one bit for each word of the heap.
class HeapObjects::Marker {
 public:
  Marker(HeapObjects& objects, const Isolate& isolate)
      : objects_(objects), shapes_(*objects.shapes_), image_(shapes_.image()) {
    const auto pages = image_.pages();
    objects_.marks_.resize(pages.size());
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const HeapPage& page = pages[i].page;
      if (page.kind == SpaceKind::kEvacuated) continue;
      if (page.kind != SpaceKind::kReadOnly && page.heap != isolate.heap) continue;
      // Of a large page's words only the first begins an object.
      const std::uint64_t words = page.is_large ? 1 : page.objects.size_bytes() / kWordBytes;
      objects_.marks_[i].bits.resize((words + 63) / 64);
    }
  }

  void run(const Isolate& isolate) {
    mark_read_only();
    for (const HeapRoot& root : isolate.roots) mark_root(root);
    drain();
  }

 private:
  // Nothing in it is garbage, and V8's own snapshots have all of it.
  void mark_read_only() {
    const auto pages = image_.pages();
    for (std::size_t i = 0; i < pages.size(); ++i) {
      if (pages[i].page.kind != SpaceKind::kReadOnly) continue;
      std::uint64_t at = pages[i].page.objects.begin.value;
      while (at < pages[i].page.objects.end.value) {
        const auto object = objects_.load(at);
        if (object && !object->shape->is_filler) push(at);
        at += object ? object->bytes.size() : kWordBytes;
      }
    }
  }

  void mark_root(const HeapRoot& root) {
    if ((root.word & 3) != 1) return;
    const auto object = objects_.load(root.word - 1);
    if (!object || object->shape->is_filler) return;
    // What else is near the tables of the compilation cache is not known to belong to it.
    if (root.kind == RootKind::kCompilationCache && !shapes_.is_fixed_array(object->shape->type)) return;
    if (root.kind == RootKind::kStrongRoots && is_number_cache(*object)) {
      mark(root.word - 1);
      return;
    }
    push(root.word - 1);
  }

  // Pairs of a number and its text, which every full collection forgets.
  bool is_number_cache(const HeapObject& array) {
    constexpr std::uint64_t kMinBytes = 16 + 256 * kWordBytes;
    constexpr int kEnough = 16;
    const std::uint64_t size = array.bytes.size();
    if (!shapes_.is_fixed_array(array.shape->type) || size < kMinBytes || (size - 16) % 16 != 0) return false;
    int pairs = 0;
    for (std::uint64_t offset = 16; offset < size; offset += 2 * kWordBytes) {
      const std::uint64_t number = array.word(offset);
      const ObjectShape* key = is_reference(number) ? shapes_.of_object(number - 1) : nullptr;
      const ObjectShape* text = shapes_.of_object(array.word(offset + kWordBytes) - 1);
      const bool is_text = text != nullptr && text->type < shapes_.types().first_nonstring;
      if (is_reference(number) ? key == nullptr : (number & 0xFFFFFFFF) != 0) return false;
      if (key != nullptr && key->type == shapes_.types().oddball) continue;  // not in use
      if (!is_text && number != 0) return false;
      if (key != nullptr && key->type != shapes_.types().heap_number) return false;
      if (is_text) ++pairs;
    }
    return pairs >= kEnough;
  }

  // Marks what is there and visits it later.
  void push(std::uint64_t address) {
    if (mark(address)) pending_.push_back(address);
  }

  bool mark(std::uint64_t address) {
    std::uint64_t* bits = nullptr;
    std::uint64_t mask = 0;
    if (!locate(address, bits, mask) || (*bits & mask) != 0) return false;
    *bits |= mask;
    return true;
  }

  bool is_marked(std::uint64_t address) {
    std::uint64_t* bits = nullptr;
    std::uint64_t mask = 0;
    return locate(address, bits, mask) && (*bits & mask) != 0;
  }

  bool locate(std::uint64_t address, std::uint64_t*& bits, std::uint64_t& mask) {
    const std::uint32_t page = image_.page_at(address);
    if (page == HeapImage::kNoPage) return false;
    const std::uint64_t index = (address - image_.pages()[page].page.objects.begin.value) / kWordBytes;
    auto& marks = objects_.marks_[page].bits;
    if (index / 64 >= marks.size()) return false;
    if (image_.pages()[page].page.is_large && index != 0) return false;
    bits = &marks[index / 64];
    mask = std::uint64_t{1} << (index % 64);
    return true;
  }

  void unmark(std::uint64_t address) {
    std::uint64_t* bits = nullptr;
    std::uint64_t mask = 0;
    if (locate(address, bits, mask)) *bits &= ~mask;
  }

  void drain() {
    while (!pending_.empty()) {
      const std::uint64_t address = pending_.back();
      pending_.pop_back();
      visit(address);
    }
  }

  void visit(std::uint64_t address) {
    const auto object = objects_.load(address);
    if (!object || object->shape->is_filler) {
      unmark(address);
      ++objects_.check_.broken_references;
      return;
    }
    if (object->bytes.size() == kWordBytes && object->shape->fixed_bytes != kWordBytes) {
      if (objects_.check_.unknown_sizes++ == 0) objects_.check_.unknown_type = object->shape->type;
    }
    push(object->shape->map - 1);
    visit_slots(shapes_, *object, [&](const HeapSlot& slot) {
      if (slot.is_weak || !has_page(slot.word - 1)) return;
      ++objects_.check_.references;
      push(slot.word - 1);
    });
    if (object->shape->slot_rule == SlotRule::kCode)
      visit_instructions(*object, [&](std::uint64_t word) { mark_embedded(word); });
    if (object->shape->weak_rule == WeakRule::kEphemerons)
      for_each_ephemeron(*object, [&](const Ephemeron& pair) { visit_ephemeron(pair); });
    if (has_keys_) {
      const auto waiting = values_by_key_.find(address);
      if (waiting == values_by_key_.end()) return;
      const std::vector<std::uint64_t> values = std::move(waiting->second);
      values_by_key_.erase(waiting);
      for (const std::uint64_t value : values) push(value);
    }
  }

  bool has_page(std::uint64_t address) const { return image_.page_at(address) != HeapImage::kNoPage; }

  void mark_embedded(std::uint64_t word) {
    if (!has_page(word - 1)) return;
    const ObjectShape* shape = shapes_.of_object(word - 1);
    if (shape == nullptr || shape->is_filler || shape->is_receiver || shape->type == shapes_.types().map ||
        shapes_.is_context(shape->type))
      return;
    push(word - 1);
  }

  void visit_ephemeron(const Ephemeron& pair) {
    if ((pair.value & 3) != 1) return;
    const std::uint64_t key = pair.key & ~std::uint64_t{3};
    const std::uint64_t value = pair.value - 1;
    if (is_marked(key)) {
      push(value);
      return;
    }
    has_keys_ = true;
    values_by_key_[key].push_back(value);
  }

  HeapObjects& objects_;
  ObjectShapes& shapes_;
  const HeapImage& image_;
  std::vector<std::uint64_t> pending_;
  bool has_keys_ = false;
  FlatMap<std::uint64_t, std::vector<std::uint64_t>> values_by_key_;  // of keys that are not marked yet
};

HeapObjects HeapObjects::mark(ObjectShapes& shapes, const Isolate& isolate) {
  HeapObjects objects(shapes);
  Marker(objects, isolate).run(isolate);
  objects.number();
  return objects;
}

void HeapObjects::number() {
  std::uint64_t count = 0;
  for (PageMarks& page : marks_) {
    page.first = static_cast<std::uint32_t>(count);
    page.ranks.resize(page.bits.size());
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < page.bits.size(); ++i) {
      page.ranks[i] = rank;
      rank += static_cast<std::uint32_t>(std::popcount(page.bits[i]));
    }
    // More than 32 bits can number would need 32 GiB of the smallest objects.
    if (count + rank >= kNone) {
      std::ranges::fill(page.bits, 0);
      rank = 0;
    }
    count += rank;
  }
  count_ = static_cast<std::uint32_t>(count);
}

std::uint32_t HeapObjects::find(std::uint64_t word) const {
  if (!is_reference(word)) return kNone;
  const std::uint64_t address = word & ~std::uint64_t{3};
  const std::uint32_t index = shapes_->image().page_at(address);
  if (index == HeapImage::kNoPage) return kNone;
  const PageMarks& page = marks_[index];
  const std::uint64_t bit = (address - shapes_->image().pages()[index].page.objects.begin.value) / kWordBytes;
  if (bit / 64 >= page.bits.size()) return kNone;
  const std::uint64_t bits = page.bits[bit / 64];
  const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
  if ((bits & mask) == 0) return kNone;
  return page.first + page.ranks[bit / 64] + static_cast<std::uint32_t>(std::popcount(bits & (mask - 1)));
}

// An object whose size is not known is taken for its map word.
std::optional<HeapObject> HeapObjects::load(std::uint64_t address) const {
  const HeapImage& image = shapes_->image();
  const std::uint32_t index = image.page_at(address);
  if (index == HeapImage::kNoPage || address % kWordBytes != 0) return std::nullopt;
  const HeapImage::Page& page = image.pages()[index];
  const std::uint64_t offset = address - page.page.range.begin.value;
  const std::uint64_t end =
      std::min<std::uint64_t>(page.bytes.size(), page.page.objects.end - page.page.range.begin);
  if (offset + kWordBytes > end) return std::nullopt;
  const auto bytes = page.bytes.subspan(offset, end - offset);
  std::uint64_t map = 0;
  std::memcpy(&map, bytes.data(), sizeof map);
  const ObjectShape* shape = shapes_->of_map(map);
  if (shape == nullptr) return std::nullopt;
  const std::uint64_t size = shapes_->size_of(*shape, bytes);
  return HeapObject{address, shape, bytes.first(size == 0 ? kWordBytes : size)};
}

template <typename Visit>
void HeapObjects::for_each_in(std::size_t page, const Visit& visit) const {
  const std::uint64_t begin = shapes_->image().pages()[page].page.objects.begin.value;
  std::uint32_t id = marks_[page].first;
  for (std::size_t i = 0; i < marks_[page].bits.size(); ++i) {
    for (std::uint64_t bits = marks_[page].bits[i]; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::uint64_t>(std::countr_zero(bits));
      visit(id++, begin + (i * 64 + bit) * kWordBytes);
    }
  }
}

void HeapObjects::for_each(const std::function<void(std::uint32_t, const HeapObject&)>& visit) const {
  for (std::size_t page = 0; page < marks_.size(); ++page) {
    for_each_in(page, [&](std::uint32_t id, std::uint64_t address) {
      const auto object = load(address);
      if (object) visit(id, *object);
    });
  }
}

void HeapObjects::for_each_dead(const std::function<void(const HeapObject&)>& visit) const {
  const auto gap = [&](std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
      const auto object = load(begin);
      if (!object || begin + object->bytes.size() > end) {
        begin += kWordBytes;
        continue;
      }
      if (!object->shape->is_filler) visit(*object);
      begin += object->bytes.size();
    }
  };
  for (std::size_t page = 0; page < marks_.size(); ++page) {
    const HeapPage& info = shapes_->image().pages()[page].page;
    if (marks_[page].bits.empty() || info.kind == SpaceKind::kReadOnly || info.kind == SpaceKind::kCode)
      continue;
    std::uint64_t at = info.objects.begin.value;
    for_each_in(page, [&](std::uint32_t, std::uint64_t address) {
      gap(at, address);
      const auto object = load(address);
      at = address + (object ? object->bytes.size() : kWordBytes);
    });
    if (!info.is_large || at == info.objects.begin.value) gap(at, info.objects.end.value);
  }
}

}  // namespace nodescope::v8
