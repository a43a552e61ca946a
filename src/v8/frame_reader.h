#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "base/hash.h"
#include "binary/unwinder.h"
#include "v8/arguments.h"
#include "v8/code_finder.h"
#include "v8/code_space.h"
#include "v8/deopt_data.h"
#include "v8/functions.h"
#include "v8/heap.h"
#include "v8/object_cache.h"
#include "v8/objects.h"
#include "v8/regexps.h"
#include "v8/script_functions.h"
#include "v8/scripts.h"
#include "v8/wasm_modules.h"

namespace nodescope::v8 {

enum class FrameKind : std::uint8_t {
  kJs,
  kBuiltin,  // V8's own machine code, also where it calls C++ and is called from there
  kRegExp,
  kWasm,
  kUnknownJs,  // generated code that could not be told
};

std::string_view to_string(FrameKind kind);

// A function on the stack.
struct Frame {
  FrameKind kind = FrameKind::kUnknownJs;
  std::string function;  // empty: it has no name
  std::optional<ScriptId> script;
  std::int32_t offset = -1;  // in the script, of the place being executed; -1: not known
  Tier tier = Tier::kNone;
  bool inlined = false;
  bool sure = true;                    // false: the line may be wrong, or what is known about this V8
  std::int32_t function_offset = -1;   // where in the script the function begins; -1: not known
  TaggedWord shared;                   // the SharedFunctionInfo; zero: none
  Address pc;                          // of code that has no function; zero: it has
  Address frame_pointer;               // where rbp points while it runs; zero: it has no frame of its own
  std::optional<Arguments> arguments;  // where they were asked for and are in the frame
};

// What people see in place of a name that is not there; empty for a JavaScript function without one.
std::string display_name(const Frame& frame);

// A frame as the unwinder found it.
struct PhysicalFrame {
  Address pc;
  Address frame_pointer;
  // rbp is still or already that of the caller.
  bool frameless = false;
  // The innermost: pc is where the thread stands, not behind a call.
  bool is_leaf = false;
  // The thread's, if nothing that has a frame was called from this one.
  const RegisterSet* registers = nullptr;
  // The process has not gone on since: no object has moved.
  bool stands_still = false;
};

// Tells what runs in a frame of V8's code.  The frames come from a stack that stands still, or from a copy of
// one that ran on: then objects may have moved since, so what tells a function is what a collector moves
// least: its bytecode and its code.
class FrameReader {
 public:
  FrameReader(Heap& heap, const CodeSpace& space, CodeFinder& codes, Scripts& scripts)
      : heap_(heap),
        space_(space),
        codes_(codes),
        functions_(heap, scripts),
        script_functions_(heap),
        regexps_(heap),
        wasm_modules_(heap, scripts) {}

  // Innermost first: inlined functions come before the one that they were inlined into.  At least one frame.
  std::vector<Frame> read(const PhysicalFrame& frame);

  // The memory may have changed.
  void begin_generation();

 private:
  // What is known about a BytecodeArray.
  struct Bytecode {
    BytecodeArray array;
    std::uint64_t id = 0;  // tells it from every other, also in the same place
    TaggedWord owner;      // the SharedFunctionInfo, once it is known
  };

  // What a frame of some code is for.
  enum class CodeUse : std::uint8_t { kNotKnown, kRunsBytecode, kOther };

  // A place in code that this program has seen, wherever its code was.
  struct PlaceKey {
    std::uint64_t code = 0;
    std::uint64_t offset = 0;
    bool operator==(const PlaceKey&) const = default;
  };
  struct PlaceHash {
    using is_avalanching = void;
    std::uint64_t operator()(const PlaceKey& key) const {
      return mix(key.code ^ 0xA0761D6478BD642Fu, key.offset ^ 0xE7037ED1A0B428DBu);
    }
  };

  std::vector<Frame> read_builtin_copy(const PhysicalFrame& frame);
  std::vector<Frame> read_marked(const PhysicalFrame& frame, std::uint64_t marker);
  std::vector<Frame> read_function(const PhysicalFrame& frame);
  std::vector<Frame> read_frameless(const PhysicalFrame& frame);
  std::vector<Frame> read_wasm(const PhysicalFrame& frame, std::optional<TaggedWord> instance);
  std::vector<Frame> read_unknown_code(const PhysicalFrame& frame);
  std::vector<Frame> read_baseline(const PhysicalFrame& frame, const CodeFinder::Found& found);
  std::vector<Frame> read_optimized(const PhysicalFrame& frame, const CodeFinder::Found& found);
  std::optional<Frame> read_interpreted(const PhysicalFrame& frame);
  std::vector<Frame> read_builtin(const PhysicalFrame& frame, std::optional<TaggedWord> function);

  Function* function_of_code(const PhysicalFrame& frame, std::optional<SourcePosition> position);
  std::vector<Frame> derive_optimized(const PhysicalFrame& frame, const Code& code);
  std::vector<Frame> derive_translated(const PhysicalFrame& frame, const Code& code, const DeoptData& deopt);
  std::int32_t derive_baseline_offset(const PhysicalFrame& frame, const Code& code,
                                      const BytecodeArray& array);
  std::int32_t bytecode_position(const Bytecode& bytecode, std::int64_t index);

  Bytecode* find_bytecode(TaggedWord word);
  TaggedWord entered_bytecode(const PhysicalFrame& frame, const Code& code);
  TaggedWord baseline_bytecode(const PhysicalFrame& frame, const Code& code);
  const CodeFinder::Found* code_of(const PhysicalFrame& frame);
  std::optional<TaggedWord> slot(const PhysicalFrame& frame, const Fact& offset);
  std::optional<Closure> closure_of(const PhysicalFrame& frame, TaggedWord shared);
  void note_wasm_area(const PhysicalFrame& frame);
  CodeUse code_use(const PhysicalFrame& frame);
  Function* function_of_bytecode(const PhysicalFrame& frame, TaggedWord word, Bytecode& bytecode);
  Function* search_function(const PhysicalFrame& frame, TaggedWord bytecode);
  Function* owner_of(TaggedWord shared, TaggedWord bytecode);
  Frame describe(Function& function, const std::optional<Closure>& closure);
  Frame describe_left(Function& function, const std::optional<Closure>& closure);
  Frame describe_inlined(Function& function, const DeoptData* deopt);
  PositionEncoding position_encoding() const;
  std::int32_t offset_of(std::optional<SourcePosition> position) const;

  Heap& heap_;
  const CodeSpace& space_;
  CodeFinder& codes_;
  Functions functions_;
  ScriptFunctions script_functions_;
  RegExps regexps_;
  WasmModules wasm_modules_;
  ObjectCache<Bytecode> bytecodes_;
  std::uint64_t next_bytecode_id_ = 0;
  // Decoding positions takes most of the time, and threads stay in few places.
  FlatMap<PlaceKey, std::vector<Frame>, PlaceHash> optimized_;
  FlatMap<PlaceKey, std::int32_t, PlaceHash> baseline_offsets_;
  FlatMap<PlaceKey, std::int32_t, PlaceHash> bytecode_offsets_;
  FlatMap<std::uint64_t, CodeUse> code_uses_;  // by pc, of builtins
  FlatMap<std::uint64_t, bool> wasm_areas_;    // where machine code of WebAssembly was seen, by their begin
};

}  // namespace nodescope::v8
