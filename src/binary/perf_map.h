#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "binary/address.h"

namespace nodescope {

// A line of a perf-PID.map.
struct PerfMapLine {
  Range<Address> range;
  std::string_view name;
};

std::optional<PerfMapLine> parse_perf_map_line(std::string_view line);

// The names of generated code, as a runtime writes them to perf-PID.map while it runs: one line "START SIZE
// NAME" per piece of code, both numbers hexadecimal.  Nothing is ever taken back: when code is moved or
// collected and its place used again, the file only gains a line.  So an address belongs to the last line
// that covers it.
class PerfMap {
 public:
  // The largest seen are of 100 MB; names are found by 32-bit offsets.
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;

  // Lines that cannot be understood are skipped and counted.
  static Result<PerfMap> read(std::unique_ptr<ByteSource> source, Diagnostics& diagnostics);
  // Borrows `text`, of which only the first kMaxBytes are read.
  static PerfMap parse(std::string_view text, Diagnostics& diagnostics);

  std::optional<std::string_view> find(Address address) const;

  // Pieces of address space that belong to one line.
  std::size_t size() const { return pieces_.size(); }

 private:
  struct Piece {
    std::uint64_t begin;
    std::uint32_t size_bytes;
    std::uint32_t name;  // offset in the text; a greater one is newer

    std::uint64_t end() const { return begin + size_bytes; }
  };

  static std::vector<Piece> parse_lines(std::string_view text, Diagnostics& diagnostics);
  static std::vector<Piece> resolve_overlaps(std::vector<Piece> lines);

  std::unique_ptr<ByteSource> source_;    // of read(), keeps the text
  std::unique_ptr<std::string> storage_;  // of a source that cannot be mapped
  std::string_view text_;
  std::vector<Piece> pieces_;  // sorted, disjoint
};

}  // namespace nodescope
