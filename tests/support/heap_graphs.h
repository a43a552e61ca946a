#pragma once

#include <utility>
#include <vector>

#include "capture/heap_graph_maker.h"
#include "support/fake_isolate.h"

namespace nodescope::testing {

// The graph of each isolate that is found in the memory.
inline std::vector<Result<HeapGraph>> graphs_of(FakeIsolate& fake, const HeapGraphOptions& options = {}) {
  const auto found = v8::find_heap_pages(fake.memory, fake.map());
  const auto isolates = v8::find_isolates(fake.memory, fake.map(), found, fake.threads());
  std::vector<v8::HeapImage::Page> pages;
  for (const v8::HeapPage& page : found) {
    const std::uint64_t begin = page.range.begin.value - FakeMemory::kBegin;
    pages.push_back({page, std::span(fake.memory.bytes).subspan(begin, page.range.size_bytes())});
  }
  v8::HeapImage image(std::move(pages), fake.memory);
  v8::ObjectShapes shapes(image, fake.layout);
  std::vector<Result<HeapGraph>> graphs;
  for (const v8::Isolate& isolate : isolates) {
    const auto objects = v8::HeapObjects::mark(shapes, isolate);
    graphs.push_back(make_heap_graph(image, fake.layout, objects, isolate, options));
  }
  return graphs;
}

}  // namespace nodescope::testing
