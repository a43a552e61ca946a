#include "formats/perf_data/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/byte_reader.h"
#include "base/path.h"
#include "base/text.h"
#include "binary/generated_code.h"
#include "perf/words.h"

namespace nodescope::perf {

namespace {

constexpr std::uint64_t kMinUnfoldedLimit = std::uint64_t{256} << 20;
constexpr std::size_t kProgressStep = 1 << 20;
constexpr std::uint64_t kInitialPidNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO, include/linux/proc_ns.h

ResolverOptions resolver_options(const ReadOptions& options, std::string_view file_name) {
  // "~" is for the FileOpener to know.
  return {options.files, std::string(folder_of(file_name)), {.perf_cache = "~/.debug"}};
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
      losses_(profile) {}

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

void Session::take_record(const RawRecord& record, std::uint32_t block) {
  if (record.header.type >= RecordType::kFirstUserType) return take_perf_record(record);
  const bool is_sample = record.header.type == RecordType::kSample;
  const auto time = is_sample ? recording_.events.time_of_sample(record.body)
                              : recording_.events.time_of_other(record.body);
  // perf writes what was there before it began without a time.
  if (!time || *time == 0 || *time == UINT64_MAX) return process(record);
  queue_.push({*time, record.body.data() - sizeof(RecordHeader), block});
}

// Records that perf adds to those of the kernel are not ordered by time.
void Session::take_perf_record(const RawRecord& record) {
  switch (record.header.type) {
    case RecordType::kFinishedRound:
      return queue_.finish_round([&](const RecordQueue::Entry& entry) { process_queued(entry); });
    case RecordType::kCompressed:
    case RecordType::kCompressed2:
      return decompress(record);
    case RecordType::kTimeConv:
      return learn_processor_clock(record.body);
    default:
      return;
  }
}

void Session::decompress(const RawRecord& record) {
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
    const RawRecord record{header,
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
  process({header, {entry.record + sizeof(header), header.size - sizeof(header)}});
}

void Session::process(const RawRecord& raw) {
  const auto record = parse_record(recording_.events, raw.header, raw.body);
  if (!record) return profile_.diagnostics.warn(to_string(record.error()));
  std::visit([&](const auto& content) { add(content, *record); }, record->content);
}

void Session::add(const SampleRecord& sample, const Record& record) {
  const EventAttribute& event = recording_.events[sample.event];
  ThreadState& thread = processes_.thread(sample.pid, sample.tid);
  ProcessState& process = *thread.process;
  process.has_samples = true;
  if (process.has_jitdump && resolver_.advance(process.pid, sample.time)) processes_.forget_places(process);
  if (!kernel_identified_) identify_kernel();
  const StackId stack = stacks_.build(event, sample, record.cpu_mode, process);
  if ((event.sample_type & kSampleRead) == 0 || sample.counters.empty()) {
    return add_sample(sample.event, sample, weight_of(event, sample), stack, thread);
  }
  // A group is sampled when its leader overflows; what each member counted since the last sample is its
  // weight.
  for_each_counter(event, sample.counters, [&](std::uint64_t id, std::uint64_t value) {
    std::uint64_t& before = counter_values_[id];
    const std::uint64_t delta = value - before;
    before = value;
    const auto member = recording_.events.find(id);
    if (member && delta != 0) add_sample(*member, sample, delta, stack, thread);
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
  thread.last_sample_time = sample.time;
  losses_.see_sample(sample.cpu, sample.time);
}

void Session::add(const MmapRecord& mapped, const Record& record) {
  if (record.cpu_mode == kMiscGuestKernel || record.cpu_mode == kMiscGuestUser) return;
  if (record.cpu_mode == kMiscKernel || mapped.pid == kKernelPid) return map_kernel(mapped);
  ProcessState& process = processes_.process(mapped.pid);
  if (is_jitdump_path(mapped.path)) {
    resolver_.add_jitdump(mapped.pid, mapped.path, jit_clocks());
    if (!process.has_jitdump) processes_.forget_places(process);
    process.has_jitdump = true;
  }
  const auto build_id = build_id_of(mapped);
  const ImageId image = resolver_.intern_image(mapped.path, build_id, mapped.pid);
  if (resolver_.is_generated(image)) process.has_generated_code = true;
  const MappedImage place{image, mapped.range, FileOffset{mapped.file_offset}};
  if (processes_.map(process, place) == AddressSpace::Change::kNone) return;
  seen_mappings_.push_back({mapped.pid, mapped.range, mapped.file_offset,
                            profile_.strings.intern(to_valid_utf8(mapped.path)),
                            build_id ? profile_.strings.intern(build_id->to_hex()) : StringId{}});
}

std::optional<BuildId> Session::build_id_of(const MmapRecord& mapped) const {
  if (mapped.build_id) return mapped.build_id;
  const auto known = recording_.build_ids.find(mapped.path);
  if (known == recording_.build_ids.end()) return std::nullopt;
  return known->second;
}

// "[kernel.kallsyms]_text": the kernel itself and the symbol whose address is the page offset.  Others are
// modules.
void Session::map_kernel(const MmapRecord& mapped) {
  constexpr std::string_view kKernelName = "[kernel.kallsyms]";
  if (!mapped.path.starts_with(kKernelName)) return resolver_.kernel().map_module(mapped.range, mapped.path);
  KernelIdentity& identity = resolver_.kernel().identity();
  identity.text = mapped.range;
  identity.reference_symbol = mapped.path.substr(kKernelName.size());
  if (mapped.file_offset != 0) identity.reference_address = Address{mapped.file_offset};
}

void Session::identify_kernel() {
  kernel_identified_ = true;
  KernelIdentity& identity = resolver_.kernel().identity();
  identity.build_id = recording_.kernel_build_id;
  identity.release = recording_.os_release;
}

void Session::add(const CommRecord& comm, const Record&) {
  ThreadState& thread = processes_.thread(comm.pid, comm.tid);
  if (comm.is_exec) processes_.exec(*thread.process);
  processes_.rename(thread, comm.name);
}

void Session::add(const ForkRecord& fork, const Record&) {
  const ThreadState& parent = processes_.thread(fork.parent_pid, fork.parent_tid);
  processes_.fork(fork.pid, fork.tid, parent, !fork.is_synthesized);
}

// What is known of it stays: samples of it may follow, and a new process of its number begins with a fork.
void Session::add(const ExitRecord&, const Record&) {}

void Session::add(const LostRecord& lost, const Record& record) {
  lost_records_ += lost.count;
  if (record.time != 0 && lost.count != 0)
    losses_.add(record.origin, record.time, lost.count, running_thread(record.origin));
}

// perf writes the kernel's final counts without a time; with one they are losses of the hardware's buffer.
void Session::add(const LostSamplesRecord& lost, const Record& record) {
  if (lost.is_filtered) return;
  (record.time == 0 ? lost_samples_counted_ : lost_samples_) += lost.count;
  if (record.time != 0 && lost.count != 0)
    losses_.add(record.origin, record.time, lost.count, running_thread(record.origin));
}

void Session::add(const ThrottleRecord& throttle, const Record& record) {
  losses_.throttle(throttle, record.time, throttle.begins ? RunningThread{} : running_thread(record.origin));
}

// How long threads wait is shown by samples that perf takes when they leave a processor.
void Session::add(const SwitchRecord&, const Record&) {}

void Session::add(const NamespacesRecord& namespaces, const Record&) {
  if (!namespaces.pid_namespace) return;
  processes_.process(namespaces.pid).in_pid_namespace = namespaces.pid_namespace != kInitialPidNamespace;
}

void Session::add(const KernelSymbolRecord& symbol, const Record&) {
  if (symbol.is_removed) {
    resolver_.kernel().remove_generated(symbol.range);
  } else {
    resolver_.kernel().add_generated(symbol.range, symbol.name);
  }
  stacks_.forget_kernel(processes_.take_place());
}

void Session::add(const OtherRecord& other, const Record&) {
  note_other(other, profile_.diagnostics);
}

RunningThread Session::running_thread(const RecordOrigin& origin) {
  if (!origin.pid || !origin.tid || *origin.pid < 0 || *origin.tid < 0) return {};
  ThreadState& thread = processes_.thread(*origin.pid, *origin.tid);
  if (thread.last_sample_time == 0) return {};
  return {processes_.model_thread(thread), thread.last_sample_time};
}

void Session::learn_processor_clock(std::span<const std::byte> body) {
  if (body.size() < 24) return;
  processor_clock_ = JitClock{static_cast<std::uint32_t>(std::min<std::uint64_t>(load_word(body, 0), 63)),
                              load_word(body, 1), load_word(body, 2)};
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
  std::ranges::stable_sort(profile_.markers, {}, &Marker::time_ns);
  add_mappings();
  profile_.facts = recording_.facts;
  profile_.facts.insert_or_assign("format", "perf.data");
  if (const EventAttribute& first = recording_.events[0]; first.counts_by_frequency()) {
    profile_.facts.insert_or_assign("rate", fmt::format("{} Hz", first.period_or_frequency));
  }
  profile_.clock_offset_ns = recording_.clock_offset_ns;
}

}  // namespace nodescope::perf
