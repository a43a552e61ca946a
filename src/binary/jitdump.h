#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "binary/address.h"
#include "binary/range_map.h"

namespace nodescope {

struct SourcePlace {
  std::string_view file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool operator==(const SourcePlace&) const = default;
};

// One piece of generated code, from the moment it was put at its address.
struct JitCode {
  std::uint64_t time = 0;  // of the dump's clock
  Range<Address> range;
  std::string_view name;
  std::span<const std::byte> code;    // empty where the dump has none
  std::optional<SourcePlace> source;  // where its source begins
};

// A jitdump (jit-PID.dump, node --perf-prof): the code that a runtime generated, with names, bytes and times.
// Format: tools/perf/Documentation/jitdump-specification.txt of Linux.
class JitDump {
 public:
  // Node's are of 10 to 100 MB.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{4} << 30;

  // A dump that was cut off gives what is before the cut.
  static Result<JitDump> read(std::unique_ptr<ByteSource> source, Diagnostics& diagnostics);
  // Borrows `bytes`.
  static Result<JitDump> parse(std::span<const std::byte> bytes, Diagnostics& diagnostics);

  // What a dump that is still being written has gained since the last time.
  struct Gain {
    std::vector<JitCode> codes;  // in the order of the file; borrows from the bytes
    std::size_t used_bytes = 0;  // up to the end of the last code that is there whole
  };
  // `bytes` go on where the last gain ended; `is_begin`: they are the first of the file.
  static Result<Gain> parse_gain(std::span<const std::byte> bytes, bool is_begin, Diagnostics& diagnostics);

  std::int32_t pid() const { return pid_; }
  // The times are of the processor's counter (TSC), not of CLOCK_MONOTONIC.
  bool has_processor_times() const { return has_processor_times_; }
  const std::vector<JitCode>& codes() const { return codes_; }  // sorted by time

 private:
  class Parser;
  struct Header;

  static Result<Header> parse_header(std::span<const std::byte> bytes);

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<std::string> storage_;
  std::int32_t pid_ = 0;
  bool has_processor_times_ = false;
  std::vector<JitCode> codes_;
};

// How the clock of a dump relates to that of a recording.  The default: they are the same clock.
struct JitClock {
  std::uint32_t shift = 0;  // below 64
  std::uint64_t multiplier = 1;
  std::uint64_t zero = 0;

  // As the kernel computes its clock from the processor's counter (linux/perf_event.h, cap_user_time_zero).
  std::uint64_t to_recording_time(std::uint64_t time) const {
    const std::uint64_t rest = time & ((std::uint64_t{1} << shift) - 1);
    return zero + (time >> shift) * multiplier + ((rest * multiplier) >> shift);
  }
};

// The code that is in memory as time goes by.  Borrows from the dump.
class JitTimeline {
 public:
  JitTimeline(const JitDump& dump, JitClock clock)
      : codes_(dump.codes()), clock_(clock), used_(codes_.size()) {}

  // Puts everything in place that was generated up to and including `time`, which is of the recording's
  // clock; never goes back.  True if code that find() gave out was replaced.
  bool advance(std::uint64_t time);

  // Borrowed from the dump; null when no code is there yet.
  const JitCode* find(Address address);

 private:
  std::span<const JitCode> codes_;
  JitClock clock_;
  RangeMap<std::uint32_t> in_place_;  // index in codes_
  std::vector<bool> used_;
  std::size_t next_ = 0;
};

}  // namespace nodescope
