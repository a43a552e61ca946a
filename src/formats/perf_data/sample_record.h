#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "binary/unwinder.h"
#include "formats/perf_data/event_attributes.h"

namespace nodescope::perf {

// The parts of a sample that become a stack with its time and place.  Spans point into the record.
struct SampleRecord {
  std::uint64_t ip = 0;
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::uint64_t time = 0;
  std::int32_t cpu = -1;
  std::uint64_t period = 0;
  bool has_ip = false;
  std::span<const std::byte> counters;  // PERF_SAMPLE_READ, see for_each_counter
  std::span<const std::byte> callchain;
  std::uint64_t register_abi = 0;
  std::span<const std::byte> registers;  // one word for each bit of EventAttribute::user_registers
  std::span<const std::byte> stack;      // from the stack pointer upwards

  // Nothing when the record is too short for what its event says it holds.
  static std::optional<SampleRecord> parse(const EventAttribute& event, std::span<const std::byte> body);
};

// The registers of x86-64 that the unwinder can use.
RegisterSet registers_of(const EventAttribute& event, const SampleRecord& sample);
// `which` are bits of PERF_REG_X86_*; there is a word for each that is set.
RegisterSet registers_of(std::uint64_t which, std::span<const std::byte> words);

// Calls visit(id, value) for every counter of a PERF_SAMPLE_READ: those of the event's group, or the event
// alone. The id is 0 where read_format has none.
template <typename Visit>
void for_each_counter(const EventAttribute& event, std::span<const std::byte> counters, Visit visit) {
  const std::uint64_t format = event.read_format;
  const std::size_t times =
      ((format & kReadTimeEnabled) != 0 ? 1u : 0u) + ((format & kReadTimeRunning) != 0 ? 1u : 0u);
  const bool has_id = (format & kReadId) != 0;
  const std::size_t counter_words = 1u + (has_id ? 1u : 0u) + ((format & kReadLost) != 0 ? 1u : 0u);
  const std::size_t words = counters.size() / 8;
  const auto word = [&](std::size_t index) {
    std::uint64_t value;
    std::memcpy(&value, counters.data() + index * 8, 8);
    return value;
  };
  if ((format & kReadGroup) == 0) {
    if (words >= times + counter_words) visit(has_id ? word(1 + times) : 0, word(0));
    return;
  }
  for (std::size_t i = 1 + times; i + counter_words <= words; i += counter_words) {
    visit(has_id ? word(i + 1) : 0, word(i));
  }
}

}  // namespace nodescope::perf
