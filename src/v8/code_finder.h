#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/id.h"
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

  Address header() const { return header_; }
  Range<Address> instructions() const { return instructions_; }
  // kNone: code that belongs to no function: builtins, regular expressions, WebAssembly's wrappers.
  Tier tier() const { return tier_; }
  bool is_regexp() const { return is_regexp_; }
  // A jump to a builtin, as up to V8 10 every isolate has one for each.
  bool is_builtin() const { return is_builtin_; }
  // Between JavaScript and WebAssembly, by what V8's profiler calls it: "js-to-wasm"; empty: it is neither.
  std::string_view wrapper() const { return wrapper_; }
  // What optimized code knows about its functions; the bytecode of baseline code.
  TaggedWord deopt() const { return deopt_; }
  TaggedWord positions() const { return positions_; }

  bool operator==(const Code&) const = default;
  // Whether this is `before` after V8 gave it up: the same instructions, but nothing about their functions.
  bool is_given_up_form_of(const Code& before, Heap& heap) const;

 private:
  Code() = default;

  Address header_;
  Range<Address> instructions_;
  Tier tier_ = Tier::kNone;
  bool is_regexp_ = false;
  bool is_builtin_ = false;
  std::string_view wrapper_;
  std::uint64_t regexp_hash_ = 0;  // of the instructions: nothing else tells two of one size apart
  TaggedWord deopt_;
  TaggedWord positions_;
};

// Tells one function's code from every other that this program has seen, also in the same place.
struct CodeTag;
using CodeId = Id<CodeTag>;

// The code that a pc lies in.  The object's header is found by looking back from pc: that needs no closure,
// so it is right for code that was replaced meanwhile.
class CodeFinder {
 public:
  explicit CodeFinder(Heap& heap) : heap_(heap) {}

  struct Found {
    CodeId id;
    Code code;
  };

  // `region` is the mapping that holds pc.  Null where no code is known.  Valid until the next call.
  const Found* find(Address pc, Range<Address> region);

  // The memory may have changed: what is known is compared before it counts again.
  void begin_generation() { ++generation_; }

 private:
  struct Entry {
    std::optional<Found> found;
    std::uint64_t generation = 0;
    bool searched_in_vain_before = false;
  };

  std::optional<Code> search(Address pc, Range<Address> region);
  bool is_current(Entry& entry);

  Heap& heap_;
  std::map<Address, Entry> entries_;  // by the first instruction, or by pc where there is none
  std::uint64_t generation_ = 1;
  std::size_t next_id_ = 0;
};

}  // namespace nodescope::v8
