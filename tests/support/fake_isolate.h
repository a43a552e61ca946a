#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/fake_v8.h"
#include "target/memory_map.h"
#include "v8/heap_image.h"
#include "v8/heap_objects.h"
#include "v8/heap_pages.h"
#include "v8/heap_roots.h"

namespace nodescope::testing {

// A small heap of V8 11.3 with one isolate: a read-only page, an old page, and what holds its roots.
class FakeIsolate {
 public:
  static constexpr std::uint64_t kReadOnlyPage = FakeMemory::kBegin;
  static constexpr std::uint64_t kOldPage = kReadOnlyPage + v8::kHeapPageBytes;
  static constexpr std::uint64_t kNative = kOldPage + v8::kHeapPageBytes;
  static constexpr std::uint64_t kIsolate = kNative + 0x18000;
  static constexpr std::uint64_t kHeap = kIsolate + 0xD2C0;
  static constexpr std::uint64_t kGlobalHandles = kHeap + 0x9000;
  static constexpr std::uint64_t kStack = kHeap + 0x10000;
  static constexpr std::uint64_t kSize = kStack + 0x1000 - FakeMemory::kBegin;
  static constexpr std::uint64_t kAreaOffset = 0x1000;

  static constexpr int kFixedArray = 175;
  static constexpr int kEphemeronTable = 177;
  static constexpr int kByteArray = 190;
  static constexpr int kFiller = 250;
  static constexpr int kWeakMap = 2070 + 40;

  FakeIsolate() : layout(layout_with_types()) {
    memory.allocate(kSize);
    put_page(kReadOnlyPage, 0);
    put_page(kOldPage, kHeap);
    read_only_ = kReadOnlyPage + kAreaOffset;
    old_ = kOldPage + kAreaOffset;
    meta_map = read_only_ + 1;
    make_map_at_top(255, 10);
    memory.put(Address{meta_map - 1}, meta_map);
    fixed_array_map = make_map_at_top(kFixedArray, 0);
    ephemeron_map = make_map_at_top(kEphemeronTable, 0);
    filler_map = make_map_at_top(kFiller, 1);
    object_map = make_map_at_top(FakeTypes::kObject, 4);
    weak_map_map = make_map_at_top(kWeakMap, 4);
    put_handles();
  }

  static v8::Layout layout_with_types() {
    v8::Layout layout = layout_of_node_20();
    layout.instance_types.add("FIXED_ARRAY_TYPE", "FixedArray", kFixedArray);
    layout.instance_types.add("BYTE_ARRAY_TYPE", "ByteArray", kByteArray);
    layout.instance_types.add("SYMBOL_TYPE", "Symbol", 128);
    layout.instance_types.add("JS_PROXY_TYPE", "JSProxy", 278);
    layout.instance_types.add("WASM_ARRAY_TYPE", "WasmArray", 276);
    layout.instance_types.add("JS_WEAK_MAP_TYPE", "JSWeakMap", kWeakMap);
    layout.type_first_context = {160, v8::Origin::kMetadata};
    layout.type_last_context = {170, v8::Origin::kMetadata};
    return layout;
  }

  // A FixedArray in the old page; tagged.
  std::uint64_t array(std::span<const std::uint64_t> elements, std::uint64_t map = 0) {
    const std::uint64_t address = old_;
    memory.put(Address{address}, map == 0 ? fixed_array_map : map);
    memory.put(Address{address + 8}, static_cast<std::uint64_t>(elements.size()) << 32);
    for (std::size_t i = 0; i < elements.size(); ++i) memory.put(Address{address + 16 + 8 * i}, elements[i]);
    old_ += 16 + 8 * elements.size();
    return address + 1;
  }
  // Of four words: map, properties, elements and one field.
  std::uint64_t object(std::uint64_t field = 0, std::uint64_t map = 0) {
    const std::uint64_t address = old_;
    memory.put(Address{address}, map == 0 ? object_map : map);
    memory.put(Address{address + 24}, field);
    old_ += 32;
    return address + 1;
  }

  void add_global_handle(std::uint64_t object, std::uint8_t state = 1) {
    const Address node{kBlock + 32 * handles_};
    memory.put(node, object);
    memory.put(node + 10, static_cast<std::uint8_t>(handles_));
    memory.put(node + 11, state);
    ++handles_;
  }

  MemoryMap map() const {
    return MemoryMap::parse("100000-" + hex(FakeMemory::kBegin + kSize) + " rw-p 00000000 00:00 0\n");
  }
  std::vector<v8::HeapThread> threads() const { return {{1, {}, Address{kStack + 0x100}, Address{}}}; }

  // What a reader of this memory does: everything up to the objects that live.
  struct Read {
    std::vector<v8::HeapPage> pages;
    std::vector<v8::Isolate> isolates;
    std::vector<std::uint32_t> live;
    std::uint64_t live_bytes = 0;
    std::uint64_t dead = 0;
    v8::HeapObjects::Check check;
  };
  Read read() {
    Read result;
    result.pages = v8::find_heap_pages(memory, map());
    result.isolates = v8::find_isolates(memory, map(), result.pages, threads());
    std::vector<v8::HeapImage::Page> pages;
    for (const v8::HeapPage& page : result.pages) {
      const std::uint64_t begin = page.range.begin.value - FakeMemory::kBegin;
      pages.push_back({page, std::span(memory.bytes).subspan(begin, page.range.size_bytes())});
    }
    const v8::HeapImage image(std::move(pages), memory);
    v8::ObjectShapes shapes(image, layout);
    for (const v8::Isolate& isolate : result.isolates) {
      const auto objects = v8::HeapObjects::mark(shapes, isolate);
      result.live.push_back(objects.size());
      result.check = objects.check();
      objects.for_each([&](std::uint32_t, const v8::HeapObject& object) {
        result.live_bytes += object.bytes.size();
        v8::for_each_slot(shapes, object, [&](const v8::HeapSlot& slot) { objects.find(slot.word); });
      });
      objects.for_each_dead([&](const v8::HeapObject&) { ++result.dead; });
    }
    return result;
  }

  FakeMemory memory;
  v8::Layout layout;
  std::uint64_t meta_map = 0, fixed_array_map = 0, ephemeron_map = 0, filler_map = 0, object_map = 0,
                weak_map_map = 0;

 private:
  static constexpr std::uint64_t kSpace = kGlobalHandles + 0x100;
  static constexpr std::uint64_t kBlock = kGlobalHandles + 0x200;

  static std::string hex(std::uint64_t value) {
    std::string text;
    for (; value != 0; value /= 16) text.insert(text.begin(), "0123456789abcdef"[value % 16]);
    return text;
  }

  void put_page(std::uint64_t page, std::uint64_t heap) {
    const std::uint64_t words[] = {v8::kHeapPageBytes, 0, heap, page + kAreaOffset,
                                   page + v8::kHeapPageBytes};
    for (std::size_t i = 0; i < std::size(words); ++i) memory.put(Address{page + 8 * i}, words[i]);
  }

  std::uint64_t make_map_at_top(int type, int words) {
    const std::uint64_t address = read_only_;
    memory.put(Address{address}, meta_map);
    memory.put(Address{address + 8}, static_cast<std::uint8_t>(words));
    memory.put(Address{address + 12}, static_cast<std::uint16_t>(type));
    read_only_ += 80;
    return address + 1;
  }

  void put_handles() {
    // Members whose first word points back tell where the isolate is.
    for (std::uint64_t i = 0; i < 3; ++i) {
      const std::uint64_t member = kGlobalHandles + 0x80 + 0x10 * i;
      memory.put(Address{kHeap + 0x100 + 8 * i}, member);
      memory.put(Address{member}, kIsolate);
    }
    memory.put(Address{kHeap + 0x200}, kGlobalHandles);
    memory.put(Address{kGlobalHandles}, kIsolate);
    memory.put(Address{kGlobalHandles + 8}, kSpace);
    memory.put(Address{kSpace}, kGlobalHandles);
    memory.put(Address{kSpace + 8}, kBlock);
    memory.put(Address{kBlock + 8192 + 8}, kGlobalHandles);
    memory.put(Address{kBlock + 8192 + 16}, kSpace);
    memory.put(Address{kStack + 0x200}, kIsolate);
  }

  std::uint64_t read_only_ = 0;
  std::uint64_t old_ = 0;
  std::uint64_t handles_ = 0;
};

}  // namespace nodescope::testing
