#pragma once

// The numbers of perf.data that this reader uses.  Sources: include/uapi/linux/perf_event.h for what the
// kernel writes, tools/perf/Documentation/perf.data-file-format.txt and tools/lib/perf/include/perf/event.h
// for what perf adds.

#include <cstddef>
#include <cstdint>

namespace nodescope::perf {

enum class RecordType : std::uint32_t {
  kMmap = 1,
  kLost = 2,
  kComm = 3,
  kExit = 4,
  kThrottle = 5,
  kUnthrottle = 6,
  kFork = 7,
  kSample = 9,
  kMmap2 = 10,
  kLostSamples = 13,
  kSwitch = 14,
  kSwitchCpuWide = 15,
  kNamespaces = 16,
  kKsymbol = 17,
  // From here on written by perf itself, and not ordered by time.
  kFirstUserType = 64,
  kHeaderAttr = 64,
  kHeaderTracingData = 66,
  kHeaderBuildId = 67,
  kFinishedRound = 68,
  kAuxtrace = 71,
  kEventUpdate = 78,
  kTimeConv = 79,
  kHeaderFeature = 80,
  kCompressed = 81,
  kCompressed2 = 83,
};

struct RecordHeader {
  RecordType type;
  std::uint16_t misc;
  std::uint16_t size;  // with this header
};
static_assert(sizeof(RecordHeader) == 8);

// RecordHeader::misc
constexpr std::uint16_t kMiscCpuModeMask = 7;
constexpr std::uint16_t kMiscKernel = 1;
constexpr std::uint16_t kMiscUser = 2;
constexpr std::uint16_t kMiscHypervisor = 3;
constexpr std::uint16_t kMiscGuestKernel = 4;
constexpr std::uint16_t kMiscGuestUser = 5;
constexpr std::uint16_t kMiscCommExec = 1 << 13;
constexpr std::uint16_t kMiscSwitchOut = 1 << 13;
constexpr std::uint16_t kMiscSwitchOutPreempt = 1 << 14;  // it would have gone on
constexpr std::uint16_t kMiscForkExec = 1 << 13;  // of a synthesized fork: the mappings are given anew
constexpr std::uint16_t kMiscMmapBuildId = 1 << 14;
constexpr std::uint16_t kMiscLostSamplesBpf = 1 << 15;  // filtered out by a BPF program, not lost
constexpr std::uint16_t kMiscBuildIdSize = 1 << 15;

// perf_event_attr::sample_type
constexpr std::uint64_t kSampleIp = 1 << 0;
constexpr std::uint64_t kSampleTid = 1 << 1;
constexpr std::uint64_t kSampleTime = 1 << 2;
constexpr std::uint64_t kSampleAddr = 1 << 3;
constexpr std::uint64_t kSampleRead = 1 << 4;
constexpr std::uint64_t kSampleCallchain = 1 << 5;
constexpr std::uint64_t kSampleId = 1 << 6;
constexpr std::uint64_t kSampleCpu = 1 << 7;
constexpr std::uint64_t kSamplePeriod = 1 << 8;
constexpr std::uint64_t kSampleStreamId = 1 << 9;
constexpr std::uint64_t kSampleRaw = 1 << 10;
constexpr std::uint64_t kSampleBranchStack = 1 << 11;
constexpr std::uint64_t kSampleRegsUser = 1 << 12;
constexpr std::uint64_t kSampleStackUser = 1 << 13;
constexpr std::uint64_t kSampleIdentifier = 1 << 16;

// PERF_SAMPLE_REGS_ABI_64
constexpr std::uint64_t kRegisterAbi64 = 2;

// perf_event_attr::read_format
constexpr std::uint64_t kReadTimeEnabled = 1 << 0;
constexpr std::uint64_t kReadTimeRunning = 1 << 1;
constexpr std::uint64_t kReadId = 1 << 2;
constexpr std::uint64_t kReadGroup = 1 << 3;
constexpr std::uint64_t kReadLost = 1 << 4;

// perf_event_attr::branch_sample_type
constexpr std::uint64_t kBranchHwIndex = 1 << 17;
constexpr std::uint64_t kBranchCounters = 1 << 19;

// Entries of a call chain from here on say where the next ones belong to.
constexpr std::uint64_t kContextMax = static_cast<std::uint64_t>(-4095);
constexpr std::uint64_t kContextHypervisor = static_cast<std::uint64_t>(-32);
constexpr std::uint64_t kContextKernel = static_cast<std::uint64_t>(-128);
constexpr std::uint64_t kContextUser = static_cast<std::uint64_t>(-512);
constexpr std::uint64_t kContextUserDeferred = static_cast<std::uint64_t>(-640);
constexpr std::uint64_t kContextGuest = static_cast<std::uint64_t>(-2048);
constexpr std::uint64_t kContextGuestKernel = static_cast<std::uint64_t>(-2176);
constexpr std::uint64_t kContextGuestUser = static_cast<std::uint64_t>(-2560);

// Features of the file header.
enum class Feature : std::uint64_t {
  kTracingData = 1,
  kBuildId = 2,
  kHostname = 3,
  kOsRelease = 4,
  kVersion = 5,
  kArch = 6,
  kCpus = 7,
  kCpuDescription = 8,
  kTotalMemory = 10,
  kCommandLine = 11,
  kEventDescription = 12,
  kTimeSpan = 21,
  kClockId = 23,
  kDirectoryFormat = 24,
  kCompressed = 27,
  kClockData = 29,
};
constexpr unsigned kFeatureBits = 256;

constexpr std::int32_t kClockMonotonic = 1;

// perf writes -1 as the process of the kernel's own mappings.
constexpr std::int32_t kKernelPid = -1;

}  // namespace nodescope::perf
