#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "binary/address.h"
#include "v8/heap.h"

namespace nodescope::v8 {

enum class Tier : std::uint8_t { kNone, kInterpreter, kBaseline, kMaglev, kTurbofan };

std::string_view to_string(Tier tier);

// A function's machine code.
class Code {
 public:
  // `header` is where the object that holds the instructions begins.
  static std::optional<Code> load(Heap& heap, Address header);

  Range<Address> instructions() const { return instructions_; }
  // kNone: code that belongs to no function: builtins, regular expressions, WebAssembly's wrappers.
  Tier tier() const { return tier_; }
  bool is_regexp() const { return is_regexp_; }
  // What optimized code knows about its functions; the bytecode of baseline code.
  TaggedWord deopt() const { return deopt_; }
  TaggedWord positions() const { return positions_; }

 private:
  Code() = default;

  Range<Address> instructions_;
  Tier tier_ = Tier::kNone;
  bool is_regexp_ = false;
  TaggedWord deopt_;
  TaggedWord positions_;
};

// The code that a pc lies in.  The object's header is found by looking back from pc: that needs no closure,
// so it is right for code that was replaced meanwhile.
class CodeFinder {
 public:
  explicit CodeFinder(Heap& heap) : heap_(heap) {}

  // `region` is the mapping that holds pc.
  const Code* find(Address pc, Range<Address> region);

  // The memory has changed.
  void forget() { found_.clear(); }

 private:
  std::optional<Code> search(Address pc, Range<Address> region);

  Heap& heap_;
  std::map<Address, std::optional<Code>> found_;  // by the first instruction, or by pc where there is none
};

}  // namespace nodescope::v8
