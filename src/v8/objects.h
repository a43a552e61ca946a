#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "v8/heap.h"

namespace nodescope::v8 {

// The names and the extent of a function's scope.
class ScopeInfo {
 public:
  static std::optional<ScopeInfo> load(Heap& heap, TaggedWord word);

  const std::string& name() const { return name_; }
  // What the function was assigned to: "X.a.b" for X.a.b = function () {}.
  const std::string& inferred_name() const { return inferred_name_; }
  // Where in the script the function begins, at its parameters, and ends; -1: not known.
  std::int32_t start() const { return start_; }
  std::int32_t end() const { return end_; }

 private:
  ScopeInfo() = default;

  std::string name_;
  std::string inferred_name_;
  std::int32_t start_ = -1;
  std::int32_t end_ = -1;
};

// The variables that a scope keeps in its context, in the order of their slots.
struct ContextNames {
  std::vector<std::string> locals;     // empty: it could not be read
  bool has_function_variable = false;  // one more slot, after them, is the function itself
};
std::optional<ContextNames> load_context_names(Heap& heap, TaggedWord scope_info);

// The part of a function that all its closures share.
class SharedFunctionInfo {
 public:
  static std::optional<SharedFunctionInfo> load(Heap& heap, TaggedWord word);

  TaggedWord word() const { return word_; }
  const std::string& name() const { return name_; }
  const std::string& inferred_name() const { return inferred_name_; }
  bool is_class_constructor() const { return is_class_constructor_; }
  // Where in the script it begins, at its parameters, and ends; -1: not known.
  std::int32_t start() const { return start_; }
  std::int32_t end() const { return end_; }
  // Nothing for a function of V8 itself and of native code.
  std::optional<TaggedWord> script() const { return script_; }
  // Nothing when there is none: not compiled, thrown away, native.
  std::optional<TaggedWord> bytecode() const { return bytecode_; }

 private:
  explicit SharedFunctionInfo(TaggedWord word) : word_(word) {}
  void read_kind(Heap& heap);
  void read_uncompiled(Heap& heap);

  TaggedWord word_;
  bool is_class_constructor_ = false;
  std::string name_;
  std::string inferred_name_;
  std::int32_t start_ = -1;
  std::int32_t end_ = -1;
  std::optional<TaggedWord> script_;
  std::optional<TaggedWord> bytecode_;
};

// The function behind a closure.
std::optional<TaggedWord> shared_of_function(Heap& heap, TaggedWord function);

// A BytecodeArray's code and where in the source it came from.
class BytecodeArray {
 public:
  static std::optional<BytecodeArray> load(Heap& heap, TaggedWord word);

  const std::string& bytecodes() const { return bytecodes_; }
  // Empty when V8 has not made it yet.
  const std::string& positions() const { return positions_; }

 private:
  BytecodeArray() = default;

  std::string bytecodes_;
  std::string positions_;
};

}  // namespace nodescope::v8
