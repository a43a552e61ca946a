#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "binary/address.h"

namespace nodescope {

// One line of /proc/PID/maps.
struct Region {
  Range<Address> range;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  FileOffset offset;
  std::string device;  // "08:01"; with the inode it tells one file from another
  std::uint64_t inode = 0;
  std::string path;  // empty for anonymous memory; "[stack]", "[vdso]", "[anon:name]"

  bool anonymous() const { return inode == 0 && (path.empty() || path.starts_with("[anon")); }
  bool has_file() const { return inode != 0; }
  bool operator==(const Region&) const = default;
};

// What a process has mapped, by address.
class MemoryMap {
 public:
  // A process may have 65,530 mappings (vm.max_map_count), more where the limit was raised.
  static constexpr std::size_t kMaxRegions = 1'000'000;

  // Lines that are not understood, and lines against the order of addresses, are left out.
  static MemoryMap parse(std::string_view text);

  MemoryMap() = default;
  // By address, without overlaps.
  explicit MemoryMap(std::vector<Region> regions) : regions_(std::move(regions)) {}

  // Null where nothing is mapped.
  const Region* find(Address address) const;
  std::span<const Region> regions() const { return regions_; }

 private:
  std::vector<Region> regions_;
};

}  // namespace nodescope
