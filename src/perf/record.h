#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "base/diagnostics.h"
#include "binary/address.h"
#include "binary/build_id.h"
#include "perf/event_attributes.h"
#include "perf/sample_record.h"

// What the kernel writes about the processes that it samples, the same in a ring buffer and in a perf.data.
// Texts point into the record.
namespace nodescope::perf {

struct MmapRecord {
  std::int32_t pid = 0;  // kKernelPid: the kernel maps it
  Range<Address> range;
  std::uint64_t file_offset = 0;
  std::string_view path;
  std::optional<BuildId> build_id;
};

struct CommRecord {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::string_view name;
  bool is_exec = false;
};

// A thread where the two processes are the same, else a process.
struct ForkRecord {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::int32_t parent_pid = 0;
  std::int32_t parent_tid = 0;
  bool is_synthesized = false;  // perf's own, of a process that was there before: its mappings follow
};

struct ExitRecord {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
};

// Records that found no room in the buffer: samples and others.
struct LostRecord {
  std::uint64_t count = 0;
};

// Samples alone: what the kernel counted for one event, or what a buffer of the hardware had no room for.
struct LostSamplesRecord {
  std::uint64_t count = 0;
  bool is_filtered = false;  // by a BPF program, so not lost
};

// The kernel stops sampling an event for the rest of a tick, or goes on.
struct ThrottleRecord {
  std::uint64_t stream = 0;  // the event on one processor or of one thread
  bool begins = false;
};

// A thread leaves a processor, or comes back to one.
struct SwitchRecord {
  bool leaves = false;
  bool preempted = false;  // it would have gone on
};

struct NamespacesRecord {
  std::int32_t pid = 0;
  std::optional<std::uint64_t> pid_namespace;  // inode number
};

// Code that the kernel generated, such as a BPF program.
struct KernelSymbolRecord {
  Range<Address> range;
  std::string_view name;
  bool is_removed = false;
};

// Of a kind that says nothing about stacks, names or losses, or that did not exist when this was written.
struct OtherRecord {
  RecordType type = {};
  bool is_known = false;
};

// One alternative for each kind.  Who reads records handles them by std::visit with one overload for each, so
// a kind that is added here does not compile until every reader says what it means to it.
using RecordContent =
    std::variant<SampleRecord, MmapRecord, CommRecord, ForkRecord, ExitRecord, LostRecord, LostSamplesRecord,
                 ThrottleRecord, SwitchRecord, NamespacesRecord, KernelSymbolRecord, OtherRecord>;

struct Record {
  RecordContent content;
  std::uint16_t cpu_mode = 0;  // kMiscUser, kMiscKernel, …
  std::uint64_t time = 0;      // 0: none, as in what perf writes about the time before
  RecordOrigin origin;         // not of samples, which have their own
};

enum class RecordFault : std::uint8_t {
  kTooShort,
  kSampleTooShort,
  kUnknownEvent,  // a sample of an event that is not described
};

// What to tell about it.
std::string_view to_string(RecordFault fault);

// Tells of records that nobody reads because they are newer than this program.
void note_other(const OtherRecord& other, Diagnostics& diagnostics);

// `body` is what follows the header.
std::expected<Record, RecordFault> parse_record(const EventAttributes& events, const RecordHeader& header,
                                                std::span<const std::byte> body);

}  // namespace nodescope::perf
