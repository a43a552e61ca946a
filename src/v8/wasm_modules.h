#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "base/hash.h"
#include "v8/heap.h"
#include "v8/positions.h"
#include "v8/scripts.h"
#include "v8/wasm_functions.h"

namespace nodescope::v8 {

// A function of WebAssembly that is active in a frame.
struct WasmCall {
  std::string function;
  ScriptId script;
  std::int32_t offset = -1;           // in the module's bytes; -1: not known
  std::int32_t function_offset = -1;  // where its code begins

  bool operator==(const WasmCall&) const = default;
};

// Which functions of WebAssembly run in a process.  Their machine code is no object of V8's heap.  V8 finds
// it by what its C++ keeps: each module has a tree of the codes that were made for it, by address, and a list
// of the newest, which were not asked for yet.  A frame leads to its instance, module object, script and from
// there to the module in C++.  Of that only little is taken to be where it was when this was written
// (src/wasm/wasm-code-manager.h): the tree and the list are known by their form, and every code by what it
// says about itself.
class WasmModules {
 public:
  WasmModules(Heap& heap, Scripts& scripts) : heap_(heap), scripts_(scripts) {}

  // The functions that are active at `pc`, innermost first: TurboFan inlines them into one another.  Empty
  // when it is in none that is known.  `instance` is what the frame keeps, if it has one.
  const std::vector<WasmCall>& calls(Address pc, bool is_leaf, std::optional<TaggedWord> instance);

  // The memory may have changed.
  void begin_generation();

 private:
  // The bytes that were compiled.
  struct Bytes {
    Address begin;
    std::uint64_t size = 0;
    std::uint64_t hash_of_end = 0;  // modules of one size follow one another in one place

    bool operator==(const Bytes&) const = default;
  };

  struct Module {
    Address native;
    Address bytes_field;
    Address codes_field;
    Bytes bytes;
    ScriptId script;
    WasmFunctions functions;
    std::uint64_t generation = 0;         // in which it was last compared
    std::uint64_t listed_generation = 0;  // in which the newest codes were last gone through
  };

  // V8's WasmCode.
  struct Code {
    Address object;
    Address module;
    Range<Address> instructions;
    std::uint32_t function = 0;
    Range<Address> positions;
    Range<Address> inlined;

    bool operator==(const Code&) const = default;
  };
  struct KnownCode {
    Code code;
    std::uint64_t generation = 0;
    FlatMap<std::uint64_t, std::vector<WasmCall>> calls;  // by pc
  };

  KnownCode* find(Address pc);
  KnownCode* search(Address pc, std::optional<TaggedWord> instance);
  KnownCode* search(Address pc, Module& module);
  KnownCode* search_newest(Address pc, Module& module);
  KnownCode* remember(const Code& code);

  Module* module_at(Address native);
  Module* module_of(TaggedWord instance);
  std::optional<TaggedWord> script_of(TaggedWord instance);
  std::optional<Address> native_of(TaggedWord script);
  std::optional<Module> read_module(Address native);
  std::optional<Bytes> read_bytes(Address field);
  std::optional<Address> codes_field_of(Address native, std::string_view words);
  std::optional<Code> load_code(Address object, Address native);
  std::vector<WasmCall> derive_calls(const Code& code, const Module& module, Address pc, bool is_leaf);

  Heap& heap_;
  Scripts& scripts_;
  std::uint64_t generation_ = 1;
  std::map<Address, Module> modules_;                // by where they are in C++
  std::map<Address, KnownCode> codes_;               // by their first instruction
  FlatMap<std::uint64_t, std::uint64_t> instances_;  // the module of each, in this generation
  FlatSet<std::uint64_t> in_vain_;                   // places that are in no code, in this generation
};

}  // namespace nodescope::v8
