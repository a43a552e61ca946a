#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/address.h"

namespace nodescope::v8 {

// Where the machine code of V8 is in a process.
class CodeSpace {
 public:
  enum class Kind : std::uint8_t {
    kOther,      // native code, or no code
    kBuiltin,    // V8's embedded builtins
    kGenerated,  // memory without a file that can be executed
  };

  struct Area {
    Range<Address> range;
    Kind kind = Kind::kOther;
  };

  // Names a builtin by an address in it, or gives nothing.
  using Namer = std::function<std::string(Address)>;

  CodeSpace() = default;
  // Areas may come in any order; they must not overlap.
  CodeSpace(std::vector<Area> areas, Namer namer);

  Kind kind(Address pc) const;
  // The whole of the area that holds pc; empty when it is none of ours.
  Range<Address> area(Address pc) const;
  // "ArrayMap"; empty: not known.
  std::string builtin_name(Address pc) const;

 private:
  const Area* find(Address pc) const;

  std::vector<Area> areas_;  // sorted
  Namer namer_;
};

}  // namespace nodescope::v8
