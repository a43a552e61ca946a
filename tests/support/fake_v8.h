#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "target/memory.h"
#include "v8/code_space.h"
#include "v8/frame_reader.h"
#include "v8/heap.h"
#include "v8/layout.h"

namespace nodescope::testing {

// Memory that begins at a fixed address.
class FakeMemory final : public Memory {
 public:
  static constexpr std::uint64_t kBegin = 0x100000;

  bool read(Address address, std::span<std::byte> into) override {
    const std::uint64_t offset = address.value - kBegin;
    const bool is_there = !gone || std::ranges::any_of(still_there, [&](const Range<Address>& range) {
      return range.contains(address) && range.contains(address + (into.size() - 1));
    });
    if (!is_there || offset > bytes.size() || into.size() > bytes.size() - offset) return false;
    if (!into.empty()) std::memcpy(into.data(), bytes.data() + offset, into.size());
    return true;
  }
  bool is_gone() const override { return gone; }

  // Where the new bytes are.  Zeros.
  Address allocate(std::size_t size) {
    const Address address{kBegin + bytes.size()};
    bytes.resize(bytes.size() + (size + 7) / 8 * 8);
    return address;
  }

  template <typename T>
  void put(Address address, T value) {
    std::memcpy(bytes.data() + (address.value - kBegin), &value, sizeof value);
  }

  std::vector<std::byte> bytes;
  // The process has ended, and of its memory there is only this.
  bool gone = false;
  std::vector<Range<Address>> still_there;
};

struct FakeTypes {
  static constexpr int kObject = 1057;
};

// The layout of V8 11.3, as far as a stack needs it.
inline v8::Layout layout_of_node_20() {
  v8::Layout layout;
  layout.versions = {"11.3.244.8-node.38", "20.20.2"};
  layout.version = {11, 3, 244};
  const auto set = [](v8::Fact& fact, std::int32_t value) { fact = {value, v8::Origin::kMetadata}; };
  set(layout.shared_flags, 48);
  set(layout.function_feedback_cell, 40);
  set(layout.script_source_url, 112);
  set(layout.page_flags, 8);
  set(layout.frame_function, -16);
  set(layout.frame_context, -8);
  set(layout.frame_receiver, 16);
  set(layout.frame_bytecode_array, -32);
  set(layout.frame_bytecode_offset, -40);
  set(layout.map_instance_type, 12);
  set(layout.map_instance_words, 8);
  set(layout.map_inobject_start, 9);
  set(layout.map_bit_field2, 15);
  set(layout.map_bit_field3, 16);
  set(layout.map_prototype, 24);
  set(layout.map_constructor, 32);
  set(layout.map_descriptors, 40);
  set(layout.own_descriptors_mask, 1047552);
  set(layout.own_descriptors_shift, 10);
  set(layout.is_dictionary_shift, 21);
  set(layout.descriptors_header, 24);
  set(layout.property_kind_mask, 1);
  set(layout.property_location_mask, 32);
  set(layout.property_index_mask, 536346624);
  set(layout.property_index_shift, 19);
  set(layout.object_properties, 8);
  set(layout.dictionary_prefix_start, 3);
  set(layout.dictionary_prefix_size, 3);
  set(layout.accessor_getter, 8);
  set(layout.accessor_setter, 16);
  set(layout.object_elements, 16);
  set(layout.elements_kind_mask, 252);
  set(layout.elements_kind_shift, 2);
  set(layout.array_buffer_view_bytes, 40);
  set(layout.heap_number_value, 8);
  set(layout.symbol_name, 16);
  set(layout.oddball_kind, 40);
  set(layout.oddball_false, 0);
  set(layout.oddball_true, 1);
  set(layout.oddball_null, 3);
  set(layout.oddball_undefined, 5);
  set(layout.function_shared, 24);
  set(layout.shared_name, 16);
  set(layout.shared_data, 8);
  set(layout.shared_script, 32);
  set(layout.script_name, 16);
  set(layout.script_source, 8);
  set(layout.script_line_offset, 24);
  set(layout.script_eval_from, 72);
  set(layout.bytecodes, 54);
  set(layout.bytecode_positions, 32);
  set(layout.code_deopt, 16);
  set(layout.code_positions, 24);
  set(layout.code_start, 40);
  set(layout.code_flags, 48);
  set(layout.code_size, 56);
  set(layout.stream_code, 8);
  set(layout.code_kind_mask, 15);
  set(layout.code_kind_baseline, 11);
  set(layout.deopt_literals, 2);
  set(layout.deopt_shared, 6);
  set(layout.deopt_positions, 7);
  set(layout.type_map, 255);
  set(layout.type_shared, 262);
  set(layout.type_script, 167);
  set(layout.type_scope_info, 261);
  set(layout.type_bytecode_array, 191);
  set(layout.type_code, 245);
  set(layout.type_byte_array, 190);
  set(layout.type_debug_info, 153);
  set(layout.type_interpreter_data, 159);
  set(layout.type_instruction_stream, 252);
  set(layout.type_feedback_vector, 249);
  set(layout.type_descriptor_array, 236);
  set(layout.type_strong_descriptor_array, 237);
  set(layout.type_property_array, 259);
  set(layout.type_accessor_pair, 142);
  set(layout.type_js_proxy, 278);
  set(layout.type_js_global_proxy, 280);
  set(layout.type_oddball, 131);
  set(layout.type_symbol, 128);
  set(layout.type_heap_number, 130);
  set(layout.type_js_array, 2056);
  set(layout.type_js_object, FakeTypes::kObject);
  set(layout.type_js_typed_array, 2060);
  set(layout.type_first_function, 2066);
  set(layout.type_last_function, 2082);
  set(layout.type_first_nonstring, 128);
  layout.markers.assign(64, v8::Marker::kOther);
  layout.markers[25] = v8::Marker::kBuiltinExit;
  layout.markers[27] = v8::Marker::kRegExp;
  layout.markers[4] = v8::Marker::kWasm;
  set(layout.script_wasm_module, 72);
  set(layout.type_wasm_module, 300);
  // Every bytecode takes two bytes, three with wide operands, five with the widest.
  layout.bytecode_sizes = std::string(256, '\2') + std::string(256, '\3') + std::string(256, '\5');
  return layout;
}

// Builds objects as V8 11.3 has them.
class FakeHeap {
 public:
  static constexpr int kStringType = 8;  // sequential, one byte
  static constexpr int kFixedArrayType = 175;
  static constexpr int kObjectType = FakeTypes::kObject;

  FakeHeap() : meta_map_(memory.allocate(80)) {
    memory.put(meta_map_, meta_map_.value + 1);
    memory.put(meta_map_ + 12, std::uint16_t{255});
  }

  static std::uint64_t smi(std::int32_t value) { return static_cast<std::uint64_t>(value) << 32; }

  Address map(int type) {
    const Address address = memory.allocate(80);
    memory.put(address, meta_map_.value + 1);
    memory.put(address + 12, static_cast<std::uint16_t>(type));
    return address;
  }

  // An object of its own map with the given words behind it.
  v8::TaggedWord object(int type, const std::vector<std::uint64_t>& words) {
    const Address map_address = map(type);
    const Address address = memory.allocate(8 + 8 * words.size());
    memory.put(address, map_address.value + 1);
    for (std::size_t i = 0; i < words.size(); ++i) memory.put(address + 8 + 8 * i, words[i]);
    return {address.value + 1};
  }

  v8::TaggedWord string(std::string_view text) {
    const auto word = object(kStringType, std::vector<std::uint64_t>(1 + (text.size() + 7) / 8));
    memory.put(word.address() + 12, static_cast<std::uint32_t>(text.size()));
    std::memcpy(memory.bytes.data() + (word.address().value + 16 - FakeMemory::kBegin), text.data(),
                text.size());
    return word;
  }

  v8::TaggedWord bytes(std::string_view content) {
    const auto word = object(190, std::vector<std::uint64_t>(1 + (content.size() + 7) / 8));
    memory.put(word.address() + 8, smi(static_cast<std::int32_t>(content.size())));
    std::memcpy(memory.bytes.data() + (word.address().value + 16 - FakeMemory::kBegin), content.data(),
                content.size());
    return word;
  }

  v8::TaggedWord array(const std::vector<std::uint64_t>& elements) {
    std::vector<std::uint64_t> words{smi(static_cast<std::int32_t>(elements.size()))};
    words.insert(words.end(), elements.begin(), elements.end());
    return object(kFixedArrayType, words);
  }

  v8::TaggedWord script(std::string_view name, std::string_view source) {
    const auto source_word = string(source);
    const auto name_word = string(name);
    std::vector<std::uint64_t> words{source_word.value, name_word.value, smi(0), smi(0)};
    words.resize(15);
    return object(167, words);
  }

  v8::TaggedWord bytecode_array(std::string_view bytecodes, v8::TaggedWord positions) {
    const auto word = object(191, std::vector<std::uint64_t>(6 + (bytecodes.size() + 7) / 8));
    memory.put(word.address() + 8, smi(static_cast<std::int32_t>(bytecodes.size())));
    memory.put(word.address() + 32, positions.value);
    std::memcpy(memory.bytes.data() + (word.address().value + 54 - FakeMemory::kBegin), bytecodes.data(),
                bytecodes.size());
    return word;
  }

  v8::TaggedWord shared(std::string_view name, v8::TaggedWord script, v8::TaggedWord bytecode) {
    const auto name_word = string(name);
    return object(262, {bytecode.value, name_word.value, 0, script.value, 0, 0});
  }

  v8::TaggedWord function(v8::TaggedWord shared) { return object(2066, {0, 0, shared.value, 0, 0, 0}); }

  // A frame with a function.  Gives the frame pointer.
  Address frame(v8::TaggedWord function, v8::TaggedWord bytecode, std::uint64_t offset_slot) {
    const Address slots = memory.allocate(96);
    const Address frame_pointer = slots + 48;
    memory.put(frame_pointer - 8, function.value);  // any object will do as a context
    memory.put(frame_pointer - 16, function.value);
    memory.put(frame_pointer - 32, bytecode.value);
    memory.put(frame_pointer - 40, offset_slot);
    return frame_pointer;
  }

  FakeMemory memory;

 private:
  Address meta_map_;
};

// A process with one function in each tier, its stack frames and where they are.
struct FakeProcess {
  FakeHeap heap;
  v8::Layout layout = layout_of_node_20();
  v8::CodeSpace space;
  std::vector<v8::PhysicalFrame>
      frames;  // interpreted, baseline, turbofan with an inlined function twice, builtin exit
  // The second of turbofan's frames is in a call that can be left for the interpreter.
  static constexpr std::size_t kTranslated = 4;
  // Of WebAssembly: in a function, and in another that was inlined there.
  static constexpr std::size_t kWasm = 5;
  static constexpr std::size_t kWasmInlined = 6;
};

// A module with one imported function and two of its own, "inner" and "outer".
inline std::string fake_wasm_module() {
  return {
      "\0asm\1\0\0\0"
      "\1\4\1\x60\0\0"              // a type
      "\2\7\1\1e\1f\0\0"            // import function 0
      "\3\3\2\0\0"                  // two functions
      "\x0a\x0f\2\6\0\1\1\1\1\x0b"  // their code begins at 0x20
      "\6\0\1\1\1\1\x0b"            // and at 0x27
      "\0\x16\4name\1\x0f\2\1\5inner\2\5outer",
      8 + 6 + 9 + 5 + 10 + 7 + 24};
}

// Code of WebAssembly as V8 11.3 keeps it: function 2 at 64 bytes of instructions.  A call that returns to 9
// is at byte 5 of its code; one that returns to 17 is at byte 3 of function 1, called from byte 7.
inline void add_wasm_frames(FakeProcess& process, Address instructions) {
  FakeMemory& memory = process.heap.memory;
  const auto put_bytes = [&](std::string_view bytes) {
    const Address address = memory.allocate(bytes.size());
    std::memcpy(memory.bytes.data() + (address.value - FakeMemory::kBegin), bytes.data(), bytes.size());
    return address;
  };
  const auto put_words = [&](const std::vector<std::uint64_t>& words) {
    const Address address = memory.allocate(8 * words.size());
    for (std::size_t i = 0; i < words.size(); ++i) memory.put(address + 8 * i, words[i]);
    return address;
  };
  const std::string module = fake_wasm_module();
  const Address bytes = put_words({put_bytes(module).value, module.size()});
  std::string tables("\x12\x18\x10", 3);  // at 8: byte 5; at 16:
  const std::uint64_t inlined = (std::uint64_t{1} << 31 | 4u << 1) - (6u << 1);
  for (std::uint64_t rest = inlined << 1; rest != 0; rest >>= 7)
    tables += static_cast<char>((rest & 0x7F) | (rest >> 7 != 0 ? 0x80 : 0));
  const std::size_t positions = tables.size();
  tables += std::string("\1\0\0\0\0\x10\0\0\0\0\0\0\0", 13);
  const Address native = memory.allocate(8 * 80);
  const Address code = put_words({native.value, instructions.value, put_bytes(tables).value, 0, 0, 0, 0, 0});
  const std::uint32_t sizes[] = {64, 0, static_cast<std::uint32_t>(positions), 13, 0};
  for (std::size_t i = 0; i < std::size(sizes); ++i) memory.put(code + 24 + 4 * i, sizes[i]);
  memory.put(code + 44, std::uint32_t{2});
  const Address list = put_words({code.value});
  memory.put(native + 80, bytes.value);
  const std::uint64_t tree[] = {0,          native.value + 232, native.value + 232, 0,
                                list.value, list.value + 8,     list.value + 8};
  for (std::size_t i = 0; i < std::size(tree); ++i) memory.put(native + 240 + 8 * i, tree[i]);

  FakeHeap& heap = process.heap;
  const Address record = put_words({0, 0, 0, put_words({native.value}).value, 0, 0, 0, 0});
  const auto script = heap.script("wasm://wasm/fake-1234", "");
  memory.put(script.address() + 72, heap.object(301, {record.value}).value);
  const auto instance = heap.object(302, {0, 0, heap.object(300, {0, 0, script.value}).value});
  for (const std::uint64_t returns_to : {9u, 17u}) {
    const Address frame = heap.frame(instance, {}, 0);
    memory.put(frame - 8, std::uint64_t{4 << 1});
    process.frames.push_back({instructions + returns_to, frame, false, false, nullptr});
  }
}

inline FakeProcess make_fake_process() {
  constexpr Address kBuiltins{0x90000000};
  FakeProcess process;
  FakeHeap& heap = process.heap;
  const auto script = heap.script("/app/a.js", "line one\nline two\nline three\n");
  // Two entries: offset 0 at script offset 2, offset 4 at script offset 11 (the second line).
  const std::string table("\x02\x0c\x08\x24", 4);
  const auto positions = heap.bytes(table);
  const auto bytecode = heap.bytecode_array("\x10\x11\x12\x13\x14\x15\x16\x17", positions);
  const auto shared = heap.shared("outer", script, bytecode);
  const auto function = heap.function(shared);
  const auto inlined = heap.shared("inlined", script, bytecode);

  const Address interpreted = heap.frame(function, bytecode, FakeHeap::smi(54 - 1 + 4));
  process.frames.push_back({kBuiltins + 0x100, interpreted, false, false, nullptr});

  // Code objects first, then the instructions in an area of their own.
  const auto code = [&](int kind, v8::TaggedWord deopt, v8::TaggedWord code_positions) {
    const auto word = heap.object(245, {0, deopt.value, code_positions.value, 0, 0, 0, 0});
    heap.memory.put(word.address() + 48, static_cast<std::uint32_t>(kind));
    heap.memory.put(word.address() + 56, std::uint32_t{64});
    return word;
  };
  // Prologue of 8 bytes, then 8 bytes for each of four bytecodes.
  const auto baseline = code(11, bytecode, heap.bytes("\x08\x08\x08\x08\x08"));
  // At code offset 0: inlining id 0, script offset 20 (the third line).
  const std::uint64_t position = (std::uint64_t{1} << 31) | (21u << 1);
  std::string optimized_table("\x02", 1);
  for (std::uint64_t rest = position << 1; rest != 0; rest >>= 7)
    optimized_table += static_cast<char>((rest & 0x7F) | (rest >> 7 != 0 ? 0x80 : 0));
  std::string call(16, '\0');
  const std::uint64_t caller = 12u << 1;  // script offset 11
  std::memcpy(call.data(), &caller, sizeof caller);
  const auto calls = heap.bytes(call);
  const auto literals = heap.array({inlined.value | 2, shared.value | 2});
  // "outer" at offset 0 of its bytecode, which has called "inlined", at offset 4 of its own.
  const auto translations =
      heap.bytes(std::string_view("\x02\x00\x04\x04\x18\x00\x02\x02\x18\x08\x00\x02", 12));
  const auto deopt = heap.array({translations.value, FakeHeap::smi(1), literals.value, 0, 0, 0, shared.value,
                                 calls.value, 0, 0, 0, FakeHeap::smi(0), FakeHeap::smi(0), FakeHeap::smi(0)});
  const auto turbofan = code(13, deopt, heap.bytes(optimized_table));

  const Address area = heap.memory.allocate(0);
  const auto stream = [&](v8::TaggedWord owner) {
    const auto word = heap.object(252, std::vector<std::uint64_t>(13));
    heap.memory.put(word.address() + 8, owner.value);
    // Behind 64 bytes of instructions: one call, which returns to 0x20 and has translation 0.
    heap.memory.put(word.address() + 80, std::uint32_t{1});
    heap.memory.put(word.address() + 84, std::uint32_t{1 | 1 << 4 | 1 << 7});
    heap.memory.put(word.address() + 88, std::uint32_t{0x20 | 1 << 8});
    heap.memory.put(owner.address() + 40, word.address().value + 16);
    return word.address() + 16;
  };
  const Address baseline_start = stream(baseline);
  const Address turbofan_start = stream(turbofan);
  const Range<Address> generated{area, heap.memory.allocate(0)};
  process.frames.push_back(
      {baseline_start + 8 + 20, heap.frame(function, bytecode, 0), false, false, nullptr});
  process.frames.push_back({turbofan_start + 16, heap.frame(function, bytecode, 0), false, false, nullptr});

  const auto native = heap.function(heap.shared("stringify", {}, {}));
  const Address exit = heap.frame(function, bytecode, 0);
  heap.memory.put(exit - 8, std::uint64_t{25 << 1});
  heap.memory.put(exit + 24, native.value);
  process.frames.push_back({kBuiltins + 0x200, exit, false, false, nullptr});

  process.frames.push_back({turbofan_start + 0x20, heap.frame(function, bytecode, 0), false, false, nullptr});

  const Address wasm = heap.memory.allocate(64);
  add_wasm_frames(process, wasm);

  process.space = v8::CodeSpace({{generated, v8::CodeSpace::Kind::kGenerated},
                                 {{wasm, wasm + 64}, v8::CodeSpace::Kind::kGenerated},
                                 {{kBuiltins, kBuiltins + 0x1000}, v8::CodeSpace::Kind::kBuiltin}},
                                [](Address) { return std::string("Builtins_Something"); });
  return process;
}

}  // namespace nodescope::testing
