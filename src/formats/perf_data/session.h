#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "binary/resolver.h"
#include "formats/format.h"
#include "formats/perf_data/decompressor.h"
#include "formats/perf_data/processes.h"
#include "formats/perf_data/record_queue.h"
#include "formats/perf_data/recording.h"
#include "formats/perf_data/stack_builder.h"
#include "perf/losses.h"
#include "perf/record.h"

namespace nodescope::perf {

// Reads the records of a perf.data into a profile.
class Session {
 public:
  // `recording` grows by what records of pipe mode say.
  Session(Recording& recording, const ReadOptions& options, std::string_view file_name, Profile& profile);

  Result<void> read(const FileParts& parts);

 private:
  // Compressed records may unfold to this many bytes that wait for the end of their round.  perf's rounds are
  // of a few megabytes; beyond this the order of records is given up, not the memory.
  static constexpr std::size_t kMaxWaitingBytes = std::size_t{512} << 20;
  // A file may be a bomb: it is read up to this many times its size, at least 256 MB.  Copies of stacks,
  // which have the most to compress, come to 30.
  static constexpr std::uint64_t kMaxUnfolding = 100;

  struct RawRecord {
    RecordHeader header;
    std::span<const std::byte> body;
  };

  void scan_for_headers(std::span<const std::byte> bytes);
  void read_records(std::span<const std::byte> bytes, std::uint64_t file_offset);
  void take_record(const RawRecord& record, std::uint32_t block);
  void take_perf_record(const RawRecord& record);
  void decompress(const RawRecord& record);
  bool take_decompressed(std::span<const std::byte> piece);
  void process_queued(const RecordQueue::Entry& entry);
  void process(const RawRecord& record);

  // One for each kind of record.
  void add(const SampleRecord& sample, const Record& record);
  void add(const MmapRecord& mapped, const Record& record);
  void add(const CommRecord& comm, const Record& record);
  void add(const ForkRecord& fork, const Record& record);
  void add(const ExitRecord& exit, const Record& record);
  void add(const LostRecord& lost, const Record& record);
  void add(const LostSamplesRecord& lost, const Record& record);
  void add(const ThrottleRecord& throttle, const Record& record);
  void add(const SwitchRecord& change, const Record& record);
  void add(const NamespacesRecord& namespaces, const Record& record);
  void add(const KernelSymbolRecord& symbol, const Record& record);
  void add(const OtherRecord& other, const Record& record);

  void add_sample(std::size_t event_index, const SampleRecord& sample, std::uint64_t weight, StackId stack,
                  ThreadState& thread);
  void map_kernel(const MmapRecord& mapped);
  void learn_processor_clock(std::span<const std::byte> body);
  RunningThread running_thread(const RecordOrigin& origin);

  void prepare_events();
  EventId event_id(std::size_t index);
  void identify_kernel();
  JitClocks jit_clocks() const;
  std::optional<BuildId> build_id_of(const MmapRecord& mapped) const;
  void finish();
  void add_mappings();

  Recording& recording_;
  const ReadOptions& options_;
  Profile& profile_;
  Resolver resolver_;
  Processes processes_;
  StackBuilder stacks_;
  Losses losses_;
  RecordQueue queue_;
  Decompressor decompressor_;
  std::vector<std::byte> cut_record_;  // the beginning of a record whose rest is in the next compressed one
  bool compression_lost_ = false;
  std::uint64_t unfolded_bytes_ = 0;
  std::uint64_t file_bytes_ = 0;
  bool kernel_identified_ = false;

  std::vector<std::optional<EventId>> event_ids_;
  FlatMap<std::uint64_t, std::uint64_t> counter_values_;  // of group sampling, by id
  std::optional<JitClock> processor_clock_;

  std::uint64_t lost_records_ = 0;          // by the kernel's buffer: samples and others
  std::uint64_t lost_samples_counted_ = 0;  // by the kernel's count of each event, which includes those
  std::uint64_t lost_samples_ = 0;          // by the hardware

  struct SeenMapping {
    std::int32_t pid;
    Range<Address> range;
    std::uint64_t file_offset;
    StringId file;
    StringId build_id;
  };
  std::vector<SeenMapping> seen_mappings_;
};

}  // namespace nodescope::perf
