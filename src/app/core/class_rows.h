#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/core/walked_heap.h"

namespace nodescope {

// The objects of one class, or those of it that are garbage.
struct ClassRow {
  std::string name;  // of V8's own in parentheses
  bool is_receiver = false;
  bool is_builtin = false;  // a class of JavaScript itself
  bool is_live = true;
  std::uint64_t count = 0;
  std::uint64_t shallow_bytes = 0;
  std::vector<std::string> properties;  // of one of them
};

// What JavaScript calls objects come first, of these the largest; of equals the classes of the program.
// `by_shape`: objects of a class with other properties have rows of their own.
std::vector<ClassRow> derive_class_rows(WalkedHeap& heap, WalkedHeap::IsolateObjects& isolate, bool by_shape);

// Of the class that the row of an object says.
std::string class_of_object(WalkedHeap& heap, WalkedHeap::IsolateObjects& isolate,
                            const v8::HeapObject& object);

// Every object of the isolate, and whether it lives.
template <typename Visit>
void for_each_object(WalkedHeap::IsolateObjects& isolate, const Visit& visit) {
  isolate.objects.for_each([&](std::uint32_t, const v8::HeapObject& object) { visit(object, true); });
  isolate.objects.for_each_dead([&](const v8::HeapObject& object) { visit(object, false); });
}

}  // namespace nodescope
