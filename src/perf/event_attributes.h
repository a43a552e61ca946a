#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "perf/abi.h"

namespace nodescope::perf {

// Where the fields of fixed size are, counted in 8-byte words from the end of the record header; kAbsent when
// the sample_type has no such field.
struct SampleLayout {
  static constexpr std::uint8_t kAbsent = 0xFF;
  std::uint8_t id = kAbsent;
  std::uint8_t ip = kAbsent;
  std::uint8_t tid = kAbsent;
  std::uint8_t time = kAbsent;
  std::uint8_t cpu = kAbsent;
  std::uint8_t period = kAbsent;
  std::uint8_t words = 0;  // of all fixed fields

  static SampleLayout of_sample(std::uint64_t sample_type);
  // Of the words that sample_id_all puts at the end of every other record, counted from the first of them.
  static SampleLayout of_trailer(std::uint64_t sample_type);
};

// One perf_event_attr: what was measured and what its samples hold.
struct EventAttribute {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t period_or_frequency = 0;
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t flags = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t user_registers = 0;  // bit mask
  std::int32_t clock_id = 0;
  std::string name;  // given by the file; empty: none
  SampleLayout sample;
  SampleLayout trailer;

  // The kernel's and perf's structs grow with time: a shorter one is as if filled up with zeros.  Nothing
  // when it is shorter than the first version ever was.
  static std::optional<EventAttribute> parse(std::span<const std::byte> bytes);

  bool counts_by_frequency() const { return (flags >> 10 & 1) != 0; }
  bool has_trailer() const { return (flags >> 18 & 1) != 0; }
  bool uses_clock_id() const { return (flags >> 25 & 1) != 0; }
  // cpu-clock and task-clock count nanoseconds.
  bool counts_nanoseconds() const { return type == 1 && config <= 1; }
  // The file's name for the event or, as perf does without one, a name from type, config and modifiers.
  std::string display_name() const;
};

// Who ran where when a record that is not a sample was written, as far as its trailer says.
struct RecordOrigin {
  std::optional<std::int32_t> pid;
  std::optional<std::int32_t> tid;
  std::optional<std::uint32_t> cpu;
};

// All events of a recording, and which one a record belongs to.
class EventAttributes {
 public:
  // A file that has more events than anyone records is damaged; the rest are refused.
  static constexpr std::size_t kMaxEvents = 4096;

  bool add(EventAttribute attribute, std::span<const std::byte> ids);
  // The event that has the first of `ids`; without ids the one at `index`.
  void name_event(std::span<const std::byte> ids, std::size_t index, std::string_view name);

  bool empty() const { return attributes_.empty(); }
  std::size_t size() const { return attributes_.size(); }
  const EventAttribute& operator[](std::size_t index) const { return attributes_[index]; }

  // Index of the event that the sample record with this body belongs to.
  std::optional<std::size_t> find_of_sample(std::span<const std::byte> body) const;
  std::optional<std::size_t> find(std::uint64_t id) const;

  std::optional<std::uint64_t> time_of_sample(std::span<const std::byte> body) const;
  // The time in the trailer of a record that is not a sample; nothing when it has none.
  std::optional<std::uint64_t> time_of_other(std::span<const std::byte> body) const;
  RecordOrigin origin_of_other(std::span<const std::byte> body) const;
  // The bytes at the end of such a record that are not part of its content.
  std::size_t trailer_bytes(std::span<const std::byte> body) const;

 private:
  const EventAttribute* find_of_other(std::span<const std::byte> body) const;

  std::vector<EventAttribute> attributes_;
  FlatMap<std::uint64_t, std::uint32_t> by_id_;
};

}  // namespace nodescope::perf
