#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "app/core/session.h"
#include "base/result.h"
#include "v8/constructor_names.h"
#include "v8/heap_image.h"
#include "v8/heap_objects.h"
#include "v8/heap_pages.h"
#include "v8/heap_roots.h"
#include "v8/object_shape.h"
#include "v8/value_facts.h"

namespace nodescope {

// All objects of a process that stands still, live and dead, by isolate.
class WalkedHeap {
 public:
  struct IsolateObjects {
    v8::Isolate isolate;
    v8::HeapObjects objects;
    std::unique_ptr<v8::ConstructorNames> names;
  };

  // Of a session that is held.  kNotFound where no heap of V8 is in its memory.
  static Result<std::unique_ptr<WalkedHeap>> walk(CoreSession& session);

  std::vector<IsolateObjects>& isolates() { return isolates_; }
  v8::HeapImage& image() { return image_; }
  v8::Heap& heap() { return heap_; }  // reads the image
  v8::ObjectShapes& shapes() { return *shapes_; }
  const v8::ValueFacts& facts() const { return facts_; }

 private:
  WalkedHeap(std::vector<v8::HeapImage::Page> pages, std::vector<std::vector<std::byte>> copies, Memory& rest,
             const v8::Layout& layout, const v8::ValueFacts& facts)
      : copies_(std::move(copies)), image_(std::move(pages), rest), heap_(image_, layout), facts_(facts) {}

  std::vector<std::vector<std::byte>> copies_;  // of pages that no core file has in one piece
  v8::HeapImage image_;
  v8::Heap heap_;
  const v8::ValueFacts& facts_;
  std::unique_ptr<v8::ObjectShapes> shapes_;
  std::vector<IsolateObjects> isolates_;
};

}  // namespace nodescope
