#include "formats/perf_data/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/byte_reader.h"
#include "base/path.h"
#include "base/text.h"
#include "binary/generated_code.h"
#include "formats/perf_data/words.h"

namespace nodescope::perf {

namespace {

constexpr std::uint64_t kMinUnfoldedLimit = std::uint64_t{256} << 20;
constexpr std::size_t kProgressStep = 1 << 20;
constexpr std::uint64_t kInitialPidNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO, include/linux/proc_ns.h

ResolverOptions resolver_options(const ReadOptions& options, std::string_view file_name) {
  // "~" is for the FileOpener to know.
  return {options.files, std::string(folder_of(file_name)), {.perf_cache = "~/.debug"}};
}

std::string_view text_at(std::span<const std::byte> body, std::size_t offset, std::size_t trailer) {
  if (body.size() < offset + trailer) return {};
  const std::string_view text = as_text(body.subspan(offset, body.size() - offset - trailer));
  return text.substr(0, text.find('\0'));
}

// The bytes behind a record that it announces and that are not records: tracing data, hardware traces.
std::uint64_t attached_bytes(const RecordHeader& header, std::span<const std::byte> body) {
  if (header.type == RecordType::kAuxtrace) return load_or_zero<std::uint64_t>(body, 0);
  if (header.type == RecordType::kHeaderTracingData) {
    return (std::uint64_t{load_or_zero<std::uint32_t>(body, 0)} + 7) & ~std::uint64_t{7};
  }
  return 0;
}

std::uint64_t weight_of(const EventAttribute& event, const SampleRecord& sample) {
  if (event.sample.period != SampleLayout::kAbsent) return sample.period;
  // With a frequency and no period in the sample nobody knows how much a sample stands for.
  return event.counts_by_frequency() ? 1 : event.period_or_frequency;
}

}  // namespace

Session::Session(Recording& recording, const ReadOptions& options, std::string_view file_name,
                 Profile& profile)
    : recording_(recording),
      options_(options),
      profile_(profile),
      resolver_(resolver_options(options, file_name), profile.diagnostics),
      processes_(profile),
      stacks_(profile, resolver_, recording.architecture, options.name_unknown_by_address),
      losses_(profile, processes_) {}

Result<void> Session::read(const FileParts& parts) {
  file_bytes_ = parts.records.size();
  if (parts.is_pipe) scan_for_headers(parts.records);
  if (recording_.events.empty()) return fail(ErrorCode::kInvalidInput, "no record that describes an event");
  prepare_events();
  read_records(parts.records, parts.records_offset);
  queue_.finish([&](const RecordQueue::Entry& entry) { process_queued(entry); });
  finish();
  return {};
}

// In pipe mode what a file has in its header comes as records, partly at the end.  A first pass finds it, so
// that events have names and binaries build ids from the beginning.
void Session::scan_for_headers(std::span<const std::byte> bytes) {
  while (bytes.size() >= sizeof(RecordHeader)) {
    const auto header = load<RecordHeader>(bytes, 0);
    if (header.size < sizeof(RecordHeader) || header.size > bytes.size()) return;
    const auto body = bytes.subspan(sizeof(RecordHeader), header.size - sizeof(RecordHeader));
    if (header.type == RecordType::kHeaderAttr) {
      parse_attribute_record(body, recording_, profile_.diagnostics);
    } else if (header.type == RecordType::kHeaderBuildId) {
      parse_build_id_record(header.misc, body, recording_);
    } else if (header.type == RecordType::kEventUpdate) {
      parse_event_update(body, recording_);
    } else if (header.type == RecordType::kHeaderFeature && body.size() >= 8) {
      parse_feature(static_cast<Feature>(load_word(body, 0)), body.subspan(8), recording_,
                    profile_.diagnostics);
    }
    const std::uint64_t attached = attached_bytes(header, body);
    if (attached > bytes.size() - header.size) return;
    bytes = bytes.subspan(header.size + static_cast<std::size_t>(attached));
  }
}

void Session::read_records(std::span<const std::byte> bytes, std::uint64_t file_offset) {
  std::size_t offset = 0;
  std::size_t next_progress = kProgressStep;
  const auto damaged = [&](std::string_view what) {
    profile_.diagnostics.error("the records are damaged: read up to there",
                               fmt::format("{} at byte {}", what, file_offset + offset));
  };
  while (bytes.size() - offset >= sizeof(RecordHeader)) {
    const auto header = load<RecordHeader>(bytes, offset);
    const std::size_t left = bytes.size() - offset;
    if (header.size < sizeof(RecordHeader)) {
      damaged("a record smaller than its header");
      return;
    }
    if (header.size > left) break;
    const auto body = bytes.subspan(offset + sizeof(RecordHeader), header.size - sizeof(RecordHeader));
    const std::uint64_t attached = attached_bytes(header, body);
    if (attached > left - header.size) {
      damaged("a record whose attached data go beyond the end");
      return;
    }
    take_record({header, body}, RecordQueue::kNoBlock);
    offset += header.size + static_cast<std::size_t>(attached);
    if (offset >= next_progress) {
      next_progress = offset + kProgressStep;
      if (options_.progress != nullptr) options_.progress->done_bytes = file_offset + offset;
    }
  }
  if (offset != bytes.size()) {
    profile_.diagnostics.error("cut off in the middle of a record",
                               fmt::format("at byte {}", file_offset + offset));
  }
}

void Session::take_record(const Record& record, std::uint32_t block) {
  if (record.header.type >= RecordType::kFirstUserType) return take_perf_record(record);
  const bool is_sample = record.header.type == RecordType::kSample;
  const auto time = is_sample ? recording_.events.time_of_sample(record.body)
                              : recording_.events.time_of_other(record.body);
  // perf writes what was there before it began without a time.
  if (!time || *time == 0 || *time == UINT64_MAX) return process(record, time.value_or(0));
  queue_.push({*time, record.body.data() - sizeof(RecordHeader), block});
}

// Records that perf adds to those of the kernel are not ordered by time.
void Session::take_perf_record(const Record& record) {
  switch (record.header.type) {
    case RecordType::kFinishedRound:
      return queue_.finish_round([&](const RecordQueue::Entry& entry) { process_queued(entry); });
    case RecordType::kCompressed:
    case RecordType::kCompressed2:
      return decompress(record);
    case RecordType::kTimeConv:
      return process_time_conversion(record);
    default:
      return;
  }
}

void Session::decompress(const Record& record) {
  if (compression_lost_) return;
  std::span<const std::byte> content = record.body;
  if (record.header.type == RecordType::kCompressed2) {
    const auto size = load_or_zero<std::uint64_t>(content, 0);
    content = content.size() >= 8 && size <= content.size() - 8 ? content.subspan(8, size)
                                                                : std::span<const std::byte>();
  }
  const auto result = decompressor_.decompress(
      content, [&](std::span<const std::byte> piece) { return take_decompressed(piece); });
  if (result) return;
  compression_lost_ = true;
  profile_.diagnostics.error("compressed records are damaged: the rest of them is lost",
                             result.error().message);
}

// The records of a piece, with what the piece before left over.  False: enough.
bool Session::take_decompressed(std::span<const std::byte> piece) {
  unfolded_bytes_ += piece.size();
  if (unfolded_bytes_ > std::max(kMinUnfoldedLimit, file_bytes_ * kMaxUnfolding)) {
    compression_lost_ = true;
    profile_.diagnostics.error("compressed records unfold to far more than perf writes: the rest is not read",
                               human_bytes(unfolded_bytes_));
    return false;
  }
  const std::size_t size = cut_record_.size() + piece.size();
  auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
  std::ranges::copy(cut_record_, memory.get());
  std::ranges::copy(piece, memory.get() + cut_record_.size());
  const std::span<const std::byte> bytes(memory.get(), size);
  const std::uint32_t block = queue_.add_block(std::move(memory), size);
  std::size_t offset = 0;
  while (size - offset >= sizeof(RecordHeader)) {
    const auto header = load<RecordHeader>(bytes, offset);
    if (header.size < sizeof(RecordHeader)) {
      compression_lost_ = true;
      profile_.diagnostics.error("compressed records are damaged: the rest of them is lost");
      break;
    }
    if (header.size > size - offset) break;
    const Record record{header,
                        bytes.subspan(offset + sizeof(RecordHeader), header.size - sizeof(RecordHeader))};
    const bool is_compressed =
        header.type == RecordType::kCompressed || header.type == RecordType::kCompressed2;
    if (!is_compressed) take_record(record, block);
    offset += header.size;
  }
  cut_record_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.end());
  queue_.close_block(block);
  if (queue_.block_bytes() > kMaxWaitingBytes) {
    profile_.diagnostics.warn("too many records in one round: their order by time may be wrong");
    queue_.finish([&](const RecordQueue::Entry& entry) { process_queued(entry); });
  }
  return !compression_lost_;
}

void Session::process_queued(const RecordQueue::Entry& entry) {
  RecordHeader header;
  std::memcpy(&header, entry.record, sizeof(header));
  process({header, {entry.record + sizeof(header), header.size - sizeof(header)}}, entry.time);
}

void Session::process(const Record& record, std::uint64_t time) {
  switch (record.header.type) {
    case RecordType::kSample:
      return process_sample(record);
    case RecordType::kMmap:
    case RecordType::kMmap2:
      return process_mmap(record);
    case RecordType::kComm:
      return process_comm(record);
    case RecordType::kFork:
      return process_fork(record);
    case RecordType::kLost:
    case RecordType::kLostSamples:
      return process_lost(record, time);
    case RecordType::kThrottle:
    case RecordType::kUnthrottle:
      return process_throttle(record, time);
    case RecordType::kNamespaces:
      return process_namespaces(record);
    case RecordType::kKsymbol:
      return process_kernel_symbol(record);
    default:
      return;
  }
}

void Session::process_sample(const Record& record) {
  const auto index = recording_.events.find_of_sample(record.body);
  if (!index)
    return profile_.diagnostics.warn("sample of an event that the file does not describe: left out");
  const EventAttribute& event = recording_.events[*index];
  const auto sample = SampleRecord::parse(event, record.body);
  if (!sample) return profile_.diagnostics.error("sample shorter than its event says: left out");
  ThreadState& thread = processes_.thread(sample->pid, sample->tid);
  ProcessState& process = *thread.process;
  process.has_samples = true;
  if (process.has_jitdump && resolver_.advance(process.pid, sample->time)) processes_.forget_places(process);
  if (!kernel_identified_) identify_kernel();
  const StackId stack = stacks_.build(event, *sample, record.header.misc & kMiscCpuModeMask, process);
  if ((event.sample_type & kSampleRead) == 0 || sample->counters.empty()) {
    return add_sample(*index, *sample, weight_of(event, *sample), stack, thread);
  }
  // A group is sampled when its leader overflows; what each member counted since the last sample is its
  // weight.
  for_each_counter(event, sample->counters, [&](std::uint64_t id, std::uint64_t value) {
    std::uint64_t& before = counter_values_[id];
    const std::uint64_t delta = value - before;
    before = value;
    const auto member = recording_.events.find(id);
    if (member && delta != 0) add_sample(*member, *sample, delta, stack, thread);
  });
}

void Session::add_sample(std::size_t event_index, const SampleRecord& sample, std::uint64_t weight,
                         StackId stack, ThreadState& thread) {
  const SampleContext context{processes_.model_thread(thread), sample.cpu, event_id(event_index)};
  if (thread.last_context != context) {
    thread.last_context = context;
    thread.last_context_id = profile_.samples.intern(context);
  }
  profile_.samples.add(static_cast<std::int64_t>(sample.time), stack, thread.last_context_id, weight);
  losses_.see_sample(thread, sample.cpu, sample.time);
}

void Session::process_mmap(const Record& record) {
  const bool is_mmap2 = record.header.type == RecordType::kMmap2;
  const std::size_t name_offset = is_mmap2 ? 64 : 32;
  const std::span<const std::byte> body = record.body;
  if (body.size() <= name_offset) return profile_.diagnostics.warn("mapping record too short: left out");
  const auto pid = load<std::int32_t>(body, 0);
  const Address begin{load<std::uint64_t>(body, 8)};
  const Address end = begin + std::min(load<std::uint64_t>(body, 16), UINT64_MAX - begin.value);
  const auto file_offset = load<std::uint64_t>(body, 24);
  const std::string_view path = text_at(body, name_offset, recording_.events.trailer_bytes(body));
  const std::uint16_t cpu_mode = record.header.misc & kMiscCpuModeMask;
  if (cpu_mode == kMiscGuestKernel || cpu_mode == kMiscGuestUser) return;
  if (cpu_mode == kMiscKernel || pid == kKernelPid) {
    return process_kernel_mmap(path, {begin, end}, file_offset);
  }
  ProcessState& process = processes_.process(pid);
  if (is_jitdump_path(path)) {
    resolver_.add_jitdump(pid, path, jit_clocks());
    if (!process.has_jitdump) processes_.forget_places(process);
    process.has_jitdump = true;
  }
  const auto build_id = build_id_of(record, path);
  const ImageId image = resolver_.intern_image(path, build_id, pid);
  if (resolver_.is_generated(image)) process.has_generated_code = true;
  if (processes_.map(process, {image, {begin, end}, FileOffset{file_offset}}) == AddressSpace::Change::kNone)
    return;
  seen_mappings_.push_back({pid,
                            {begin, end},
                            file_offset,
                            profile_.strings.intern(to_valid_utf8(path)),
                            build_id ? profile_.strings.intern(build_id->to_hex()) : StringId{}});
}

std::optional<BuildId> Session::build_id_of(const Record& record, std::string_view path) const {
  constexpr std::size_t kSizeOffset = 32;
  constexpr std::size_t kIdOffset = 36;
  constexpr std::size_t kMaxIdBytes = 20;
  if (record.header.type == RecordType::kMmap2 && (record.header.misc & kMiscMmapBuildId) != 0) {
    const std::size_t size = std::min<std::size_t>(load<std::uint8_t>(record.body, kSizeOffset), kMaxIdBytes);
    return BuildId::from_bytes(record.body.subspan(kIdOffset, size));
  }
  const auto known = recording_.build_ids.find(path);
  if (known == recording_.build_ids.end()) return std::nullopt;
  return known->second;
}

// "[kernel.kallsyms]_text": the kernel itself and the symbol whose address is the page offset.  Others are
// modules.
void Session::process_kernel_mmap(std::string_view name, Range<Address> range, std::uint64_t page_offset) {
  constexpr std::string_view kKernelName = "[kernel.kallsyms]";
  if (!name.starts_with(kKernelName)) return resolver_.kernel().map_module(range, name);
  KernelIdentity& identity = resolver_.kernel().identity();
  identity.text = range;
  identity.reference_symbol = name.substr(kKernelName.size());
  if (page_offset != 0) identity.reference_address = Address{page_offset};
}

void Session::identify_kernel() {
  kernel_identified_ = true;
  KernelIdentity& identity = resolver_.kernel().identity();
  identity.build_id = recording_.kernel_build_id;
  identity.release = recording_.os_release;
}

void Session::process_comm(const Record& record) {
  constexpr std::size_t kNameOffset = 8;
  if (record.body.size() <= kNameOffset) return;
  ThreadState& thread =
      processes_.thread(load<std::int32_t>(record.body, 0), load<std::int32_t>(record.body, 4));
  if ((record.header.misc & kMiscCommExec) != 0) processes_.exec(*thread.process);
  processes_.rename(thread, text_at(record.body, kNameOffset, recording_.events.trailer_bytes(record.body)));
}

void Session::process_fork(const Record& record) {
  if (record.body.size() < 16) return;
  const auto number = [&](std::size_t offset) { return load<std::int32_t>(record.body, offset); };
  const ThreadState& parent = processes_.thread(number(4), number(12));
  processes_.fork(number(0), number(8), parent, (record.header.misc & kMiscForkExec) == 0);
}

void Session::process_lost(const Record& record, std::uint64_t time) {
  const bool is_samples = record.header.type == RecordType::kLostSamples;
  const auto lost = load_or_zero<std::uint64_t>(record.body, is_samples ? 0 : 8);
  if (!is_samples) {
    lost_records_ += lost;
  } else if ((record.header.misc & kMiscLostSamplesBpf) == 0) {
    // perf writes the kernel's final counts without a time; with one they are losses of the hardware's
    // buffer.
    (time == 0 ? lost_samples_counted_ : lost_samples_) += lost;
  }
  const bool is_filtered = is_samples && (record.header.misc & kMiscLostSamplesBpf) != 0;
  if (time != 0 && lost != 0 && !is_filtered)
    losses_.add(recording_.events.origin_of_other(record.body), time, lost);
}

// Both records begin with the time, the id and the stream id of the event.
void Session::process_throttle(const Record& record, std::uint64_t time) {
  const auto stream = load_or_zero<std::uint64_t>(record.body, 16);
  if (record.header.type == RecordType::kUnthrottle) {
    return losses_.unthrottle(recording_.events.origin_of_other(record.body), stream, time);
  }
  profile_.diagnostics.info("the kernel throttled sampling: some time has fewer samples");
  losses_.throttle(stream, time);
}

void Session::process_namespaces(const Record& record) {
  constexpr std::size_t kPidNamespace = 3;  // NET, UTS, IPC, PID; each a device and a number
  constexpr std::size_t kLinksOffset = 16;
  const std::size_t offset = kLinksOffset + kPidNamespace * 16 + 8;
  if (record.body.size() < offset + 8 || load_word(record.body, 1) <= kPidNamespace) return;
  ProcessState& process = processes_.process(load<std::int32_t>(record.body, 0));
  process.in_pid_namespace = load<std::uint64_t>(record.body, offset) != kInitialPidNamespace;
}

void Session::process_kernel_symbol(const Record& record) {
  constexpr std::size_t kNameOffset = 16;
  constexpr std::uint16_t kUnregister = 1;
  if (record.body.size() <= kNameOffset) return;
  const Address begin{load<std::uint64_t>(record.body, 0)};
  const Address end =
      begin + std::min<std::uint64_t>(load<std::uint32_t>(record.body, 8), UINT64_MAX - begin.value);
  if ((load<std::uint16_t>(record.body, 14) & kUnregister) != 0) {
    resolver_.kernel().remove_generated({begin, end});
  } else {
    resolver_.kernel().add_generated(
        {begin, end}, text_at(record.body, kNameOffset, recording_.events.trailer_bytes(record.body)));
  }
  stacks_.forget_kernel(processes_.take_place());
}

void Session::process_time_conversion(const Record& record) {
  if (record.body.size() < 24) return;
  const JitClock clock{static_cast<std::uint32_t>(std::min<std::uint64_t>(load_word(record.body, 0), 63)),
                       load_word(record.body, 1), load_word(record.body, 2)};
  processor_clock_ = clock;
}

// V8's times are of CLOCK_MONOTONIC: they can be compared if all times of the recording are, too.
JitClocks Session::jit_clocks() const {
  JitClocks clocks{JitClock{}, processor_clock_};
  for (std::size_t i = 0; i < recording_.events.size(); ++i) {
    const EventAttribute& event = recording_.events[i];
    if (!event.uses_clock_id() || event.clock_id != kClockMonotonic) clocks.monotonic.reset();
  }
  return clocks;
}

// In the order of the file, so that the first one asked for is the one that is shown first.
void Session::prepare_events() {
  constexpr std::uint64_t kDummy = 9;
  event_ids_.resize(recording_.events.size());
  for (std::size_t i = 0; i < event_ids_.size(); ++i) {
    const EventAttribute& event = recording_.events[i];
    if (event.type != 1 || event.config != kDummy) event_id(i);
  }
}

EventId Session::event_id(std::size_t index) {
  auto& id = event_ids_[index];
  if (id) return *id;
  const EventAttribute& event = recording_.events[index];
  const bool has_weight = event.sample.period != SampleLayout::kAbsent || !event.counts_by_frequency();
  const Unit unit = !has_weight                  ? Unit::kSamples
                    : event.counts_nanoseconds() ? Unit::kNanoseconds
                                                 : Unit::kCount;
  id = profile_.intern_event(to_valid_utf8(event.display_name()), unit);
  return *id;
}

void Session::add_mappings() {
  for (const SeenMapping& seen : seen_mappings_) {
    const ProcessState& process = processes_.process(seen.pid);
    if (!process.has_samples) continue;
    ThreadState& main = processes_.thread(seen.pid, seen.pid);
    const ProcessId id = profile_.thread(processes_.model_thread(main)).process;
    profile_.mappings.push_back(
        {id, seen.range.begin.value, seen.range.end.value, seen.file_offset, seen.file, seen.build_id});
  }
}

void Session::finish() {
  profile_.samples.sort_by_time();
  // The kernel's own count per event is exact where there is one; a lost record is not always a sample.
  profile_.lost_samples =
      lost_samples_ + (lost_samples_counted_ != 0 ? lost_samples_counted_ : lost_records_);
  if (profile_.lost_samples != 0) {
    profile_.diagnostics.add(Severity::kWarning, "samples lost while recording", {}, profile_.lost_samples);
  }
  if (profile_.samples.size() == 0) profile_.diagnostics.warn("the recording has no samples");
  processes_.for_each_process([&](const ProcessState& process) {
    if (!process.in_pid_namespace || !process.has_samples || !process.has_generated_code) return;
    profile_.diagnostics.info(
        "process of a container: its perf map is named after its number there; copy it to perf-PID.map",
        fmt::format("process {}", process.pid));
  });
  losses_.finish();
  add_mappings();
  profile_.facts = recording_.facts;
  profile_.facts.insert_or_assign("format", "perf.data");
  if (const EventAttribute& first = recording_.events[0]; first.counts_by_frequency()) {
    profile_.facts.insert_or_assign("rate", fmt::format("{} Hz", first.period_or_frequency));
  }
  profile_.clock_offset_ns = recording_.clock_offset_ns;
}

}  // namespace nodescope::perf
