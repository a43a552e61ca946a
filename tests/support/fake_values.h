#pragma once

#include <bit>
#include <map>
#include <string>

#include "support/fake_v8.h"
#include "v8/value_facts.h"

namespace nodescope::testing {

// Values of V8 11.3, by name.
struct FakeValues {
  static constexpr int kMapType = 1075;
  static constexpr int kPromiseType = 1076;
  static constexpr int kDateType = 1077;
  static constexpr int kBufferType = 1078;
  static constexpr int kArrayType = 2056;
  static constexpr int kOddballType = 131;
  static constexpr int kNumberType = 130;

  FakeValues() {
    const auto set = [](v8::Fact& fact, std::int32_t value) { fact = {value, v8::Origin::kMetadata}; };
    set(facts.type_map, kMapType);
    set(facts.type_promise, kPromiseType);
    set(facts.type_date, kDateType);
    set(facts.type_array_buffer, kBufferType);
    set(facts.collection_table, 24);
    set(facts.promise_result, 24);
    set(facts.promise_flags, 32);
    set(facts.date_value, 24);
    set(facts.array_buffer_bytes, 24);
    set(facts.array_buffer_store, 32);
    set(facts.array_length, 24);
    set(facts.number_dictionary_prefix, 1);
    set(facts.oddball_hole, 2);
    const auto text = heap.string("text");
    const auto hole = heap.object(kOddballType, {0, 0, 0, 0, FakeHeap::smi(2)});
    words["text"] = text;
    words["hole"] = hole;
    words["array"] = array({FakeHeap::smi(7), text.value, hole.value}, 5);
    words["map"] = map(text, hole);
    words["promise"] = heap.object(kPromiseType, {0, 0, text.value, FakeHeap::smi(1)});
    const auto number = heap.object(kNumberType, {std::bit_cast<std::uint64_t>(86'400'000.0)});
    words["date"] = heap.object(kDateType, {0, 0, number.value});
    const Address store = heap.memory.allocate(8);
    heap.memory.put(store, std::uint64_t{0x0403'0201});
    words["buffer"] = heap.object(kBufferType, {0, 0, 4, store.value});
    // 2^64 + 5, negative.
    words["bigint"] = heap.object(129, {(std::uint64_t{2} << 1) | 1, 5, 1});
  }

  v8::TaggedWord array(const std::vector<std::uint64_t>& elements, std::int32_t length) {
    const auto store = heap.array(elements);
    const auto word = heap.object(kArrayType, {0, store.value, FakeHeap::smi(length)});
    set_kind(word, 3);
    return word;
  }

  // {"text" => 1}, and an entry that was deleted.
  v8::TaggedWord map(v8::TaggedWord text, v8::TaggedWord hole) {
    const auto smi = [](std::int32_t value) { return FakeHeap::smi(value); };
    const auto table = heap.array({smi(1), smi(1), smi(2), smi(-1), smi(-1), hole.value, hole.value, smi(-1),
                                   text.value, smi(1), smi(-1), 0, 0, 0});
    return heap.object(kMapType, {0, 0, table.value});
  }

  void set_kind(v8::TaggedWord object, std::uint8_t kind) {
    std::uint64_t map = 0;
    std::memcpy(&map, heap.memory.bytes.data() + (object.address().value - FakeMemory::kBegin), sizeof map);
    heap.memory.put(Address{map - 1 + 15}, static_cast<std::uint8_t>(kind << 2));
  }

  FakeHeap heap;
  v8::Layout layout = layout_of_node_20();
  v8::ValueFacts facts;
  std::map<std::string, v8::TaggedWord> words;
};

}  // namespace nodescope::testing
