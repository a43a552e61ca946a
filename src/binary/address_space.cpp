#include "binary/address_space.h"

#include <algorithm>

namespace nodescope {

AddressSpace::Change AddressSpace::map(const MappedImage& mapped) {
  if (mapped.range.size_bytes() == 0) return Change::kNone;
  const Change change = change_of(mapped);
  if (change == Change::kNone) return change;
  if (!mappings_) {
    mappings_ = std::make_shared<Mappings>();
  } else if (mappings_.use_count() > 1) {
    mappings_ = std::make_shared<Mappings>(*mappings_);
  }
  mappings_->assign(mapped.range, mapped);
  return change;
}

AddressSpace::Change AddressSpace::change_of(const MappedImage& mapped) const {
  if (!mappings_) return Change::kAdded;
  bool replaced = false;
  std::uint64_t covered_bytes = 0;
  mappings_->for_each_in(mapped.range, [&](Range<Address> range, const MappedImage& before) {
    const Address begin = std::max(range.begin, mapped.range.begin);
    const Address end = std::min(range.end, mapped.range.end);
    covered_bytes += end - begin;
    if (before.image != mapped.image || before.offset_of(begin) != mapped.offset_of(begin)) replaced = true;
  });
  if (replaced) return Change::kReplaced;
  return covered_bytes == mapped.range.size_bytes() ? Change::kNone : Change::kAdded;
}

const MappedImage* AddressSpace::find(Address address) const {
  return mappings_ ? mappings_->find(address) : nullptr;
}

}  // namespace nodescope
