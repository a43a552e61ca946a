#pragma once

#include <span>

#include "binary/address_space.h"
#include "binary/resolver.h"
#include "binary/unwinder.h"

namespace nodescope {

// The code of a recorded process, for unwinding its stacks.
class ProcessCode final : public CodeMap {
 public:
  ProcessCode(Resolver& resolver, const AddressSpace& space) : resolver_(resolver), space_(space) {}

  CodeRegion find(Address pc) override;
  std::span<const std::byte> code(Range<Address> range) override;

 private:
  Resolver& resolver_;
  const AddressSpace& space_;
};

}  // namespace nodescope
