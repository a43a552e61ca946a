#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "binary/unwinder.h"
#include "v8/arguments.h"
#include "v8/code_finder.h"
#include "v8/code_space.h"
#include "v8/deopt_data.h"
#include "v8/function_name.h"
#include "v8/heap.h"
#include "v8/objects.h"
#include "v8/scripts.h"

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
  std::optional<Arguments> arguments;  // where they were asked for and are in the frame
};

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
};

// Tells what runs in a frame of V8's code.
class FrameReader {
 public:
  FrameReader(Heap& heap, const CodeSpace& space, CodeFinder& codes, Scripts& scripts)
      : heap_(heap), space_(space), codes_(codes), scripts_(scripts) {}

  // Innermost first: inlined functions come before the one that they were inlined into.  At least one frame.
  std::vector<Frame> read(const PhysicalFrame& frame);

 private:
  std::vector<Frame> read_marked(const PhysicalFrame& frame, std::uint64_t marker);
  std::vector<Frame> read_function(const PhysicalFrame& frame);
  std::vector<Frame> read_frameless(const PhysicalFrame& frame);
  std::vector<Frame> read_baseline(const PhysicalFrame& frame, const Code& code);
  std::vector<Frame> read_optimized(const PhysicalFrame& frame, const Code& code);
  std::optional<Frame> read_interpreted(const PhysicalFrame& frame);
  std::vector<Frame> read_builtin(const PhysicalFrame& frame, std::optional<TaggedWord> function);

  TaggedWord baseline_bytecode(const PhysicalFrame& frame, const Code& code);
  const Code* code_of(const PhysicalFrame& frame);
  std::optional<TaggedWord> slot(const PhysicalFrame& frame, const Fact& offset);
  std::optional<SharedFunctionInfo> function_of_bytecode(const PhysicalFrame& frame, TaggedWord bytecode);
  Frame describe(const SharedFunctionInfo& shared, const PhysicalFrame* frame);
  PositionEncoding position_encoding() const;
  std::int32_t offset_of(std::optional<SourcePosition> position) const;

  Heap& heap_;
  const CodeSpace& space_;
  CodeFinder& codes_;
  Scripts& scripts_;
};

}  // namespace nodescope::v8
