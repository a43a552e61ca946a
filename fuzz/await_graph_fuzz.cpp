// Follows who awaits whom in a heap that is not what it should be.  The input is a list of patches of a good
// one: {u16 place in words, u64 value}; an input of one byte leaves it as it is.
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "support/fake_promises.h"
#include "v8/await_chains.h"

namespace {

using namespace nodescope;

struct Population {
  testing::FakeHeap heap;
  v8::TaggedWord leaf;
};

Population make_population() {
  Population made;
  testing::FakePromises promises(made.heap);
  made.leaf = promises.promise();
  const auto inner = promises.promise();
  const auto all = promises.promise();
  const auto outer = promises.promise();
  promises.await(promises.async_function("query", inner), made.leaf);
  const auto element = promises.element(1201, 1, all);
  promises.react(inner, element, element, {});
  promises.await(promises.async_generator("rows", outer), all);
  promises.await(promises.async_function("one", promises.promise()), outer);
  promises.await(promises.async_function("two", promises.promise()), outer);
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kPatchBytes = 10;
  static const Population good = make_population();
  Population population = good;
  auto& bytes = population.heap.memory.bytes;
  for (std::size_t at = 0; at + kPatchBytes <= size; at += kPatchBytes) {
    std::uint16_t place = 0;
    std::memcpy(&place, data + at, sizeof place);
    std::memcpy(bytes.data() + 8 * (place % (bytes.size() / 8)), data + at + sizeof place, 8);
  }
  const v8::Layout layout = testing::layout_with_closures();
  const v8::AsyncLayout async = testing::async_layout_of_node_20();
  v8::Heap heap(population.heap.memory, layout);
  v8::Scripts scripts;
  const v8::CodeSpace space;
  v8::AsyncReader reader(heap, async, space, scripts);
  NODESCOPE_CHECK(reader.graph().chain(population.leaf).awaiters.size() <= v8::AwaitGraph::kMaxChain);
  const Range<Address> all{Address{testing::FakeMemory::kBegin},
                           Address{testing::FakeMemory::kBegin + bytes.size()}};
  const v8::HeapPage page{
      .range = all, .objects = all, .heap = {}, .kind = v8::SpaceKind::kOld, .is_large = true};
  const v8::HeapImage image({{page, bytes}}, population.heap.memory);
  Progress progress;
  const auto chains = v8::derive_await_chains(reader, v8::find_async_objects(image, layout, async, progress));
  for (const auto& chain : chains.chains) {
    for (const std::uint32_t place : chain.places) NODESCOPE_CHECK(place < chains.places.size());
  }
  return 0;
}
