#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/id.h"
#include "binary/address.h"
#include "binary/range_map.h"

namespace nodescope {

struct ImageTag;
// Something that can be mapped: a binary, the code that a process generates, the vdso.
using ImageId = Id<ImageTag>;

// Part of an image at a place in memory.
struct MappedImage {
  ImageId image;
  Range<Address> range;
  FileOffset offset;  // of range.begin in the image

  FileOffset offset_of(Address address) const { return offset + (address - range.begin); }
  bool operator==(const MappedImage&) const = default;
};

// What a process has mapped.  A later mapping replaces what it overlaps; a forked child begins with a copy,
// which costs nothing until one of the two changes.
class AddressSpace {
 public:
  enum class Change : std::uint8_t {
    kNone,      // every address means what it meant before
    kAdded,     // addresses that meant nothing now do
    kReplaced,  // addresses mean something else than before
  };

  Change map(const MappedImage& mapped);
  void clear() { mappings_.reset(); }
  AddressSpace fork() const { return *this; }

  // Null when nothing is mapped there.  Valid until the next change.
  const MappedImage* find(Address address) const;
  // The part of that mapping around `address` that no later mapping replaced.
  Range<Address> extent(Address address) const {
    return mappings_ ? mappings_->extent(address) : Range<Address>{};
  }

  std::size_t size() const { return mappings_ ? mappings_->size() : 0; }
  // The number of mappings that the next map() has to copy, because a forked process shares them.
  std::size_t shared_mappings() const { return mappings_.use_count() > 1 ? size() : 0; }

 private:
  using Mappings = RangeMap<MappedImage>;

  Change change_of(const MappedImage& mapped) const;

  std::shared_ptr<Mappings> mappings_;
};

}  // namespace nodescope
