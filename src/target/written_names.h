#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "base/string_table.h"
#include "binary/address.h"
#include "binary/range_map.h"
#include "target/process.h"

namespace nodescope {

// What a process has written down about the code that it generates, for perf: /tmp/perf-PID.map (node
// --perf-basic-prof) and jit-PID.dump (--perf-prof), inside of its container.  Both only grow, so each byte
// is read once; nothing of the files is mapped, since the process may shorten them at any time.
class WrittenNames {
 public:
  // The name of the newest code that was noted to cover `pc`; empty: none.  Nothing is ever taken back, so it
  // may be about code that is gone.
  std::string find(const TargetProcess& process, Address pc, Diagnostics& diagnostics);

  // The next bytes of a map or a dump; the number of those that need not come again.
  std::size_t add_map(std::string_view text);
  Result<std::size_t> add_dump(std::span<const std::byte> bytes, bool is_begin, Diagnostics& diagnostics);

  std::string_view name_at(Address pc) const;

 private:
  struct GrowingFile {
    std::unique_ptr<ByteSource> source;
    std::uint64_t used_bytes = 0;
    std::string rest;  // read, but not whole
    bool given_up = false;
  };

  void read_map(const TargetProcess& process, Diagnostics& diagnostics);
  void read_dump(const TargetProcess& process, Diagnostics& diagnostics);
  template <typename Add>
  void read_gain(GrowingFile& file, Diagnostics& diagnostics, Add add);
  void note(Range<Address> range, std::string_view name);

  GrowingFile map_;
  GrowingFile dump_;
  StringTable texts_;
  std::size_t name_bytes_ = 0;
  RangeMap<StringId> names_;
  std::chrono::steady_clock::time_point read_time_;
};

}  // namespace nodescope
