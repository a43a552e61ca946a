#include "formats/recording/chunk_decoder.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace nodescope::recording {

namespace {

constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint32_t>::max();
// What SampleTable keeps of a processor's number.
constexpr std::uint32_t kMaxCpu = (1 << 20) + 1;

constexpr int kMaxDiagnosticKinds = 1000;

constexpr std::string_view kLostName = "names lost with a damaged chunk";
constexpr std::string_view kLostStack = "samples whose stack was lost with a damaged chunk";
constexpr std::string_view kUnknownValue = "values that this version does not know";

std::uint32_t to_u32(std::uint64_t value, Diagnostics& diagnostics) {
  if (value <= kMaxId) return static_cast<std::uint32_t>(value);
  diagnostics.warn(kUnknownValue, "number beyond 32 bits");
  return 0;
}

std::int32_t to_i32(std::int64_t value, Diagnostics& diagnostics) {
  const auto narrow = static_cast<std::int32_t>(value);
  if (narrow == value) return narrow;
  diagnostics.warn(kUnknownValue, "number beyond 32 bits");
  return 0;
}

// `value` as an enumerator, or the first one if a newer version wrote it.
template <typename Enum>
Enum to_enum(unsigned value, Enum last, Diagnostics& diagnostics) {
  if (value <= static_cast<unsigned>(last)) return static_cast<Enum>(value);
  diagnostics.warn(kUnknownValue, "enumerator");
  return Enum{};
}

// The next `count` numbers of `in` as a cursor of their own, so that a row is read from all its columns at
// once.
Cursor split_column(Cursor& in, std::uint64_t count) {
  const Cursor column = in;
  for (std::uint64_t i = 0; i < count && !in.failed(); ++i) in.varint();
  return column;
}

// Ids, each stored as its distance from the one before.
class IdColumn {
 public:
  IdColumn(Cursor& in, std::uint64_t count) : column_(split_column(in, count)) {}
  std::uint64_t next() { return last_ += static_cast<std::uint64_t>(column_.signed_varint()); }

 private:
  Cursor column_;
  std::uint64_t last_ = 0;
};

}  // namespace

ChunkDecoder::ChunkDecoder(Profile& profile) : profile_(profile) {}

Result<void> ChunkDecoder::decode(const ChunkHeader& header, std::span<const std::byte> payload,
                                  bool with_samples) {
  if (!started_ || header.tables_sequence != tables_sequence_) restart_tables(header.tables_sequence);
  events_.clear();
  Cursor in(payload);
  while (in.remaining() > 0) {
    const auto section = static_cast<Section>(in.byte());
    const auto content = in.take(in.varint());
    if (in.failed()) return fail(ErrorCode::kInvalidInput, "a section reaches beyond the chunk");
    if (section == Section::kSamples) {
      if (!with_samples || decode_samples(content, header)) continue;
      return fail(ErrorCode::kInvalidInput, "malformed samples");
    }
    if (auto decoded = decode_section(section, Cursor(content)); !decoded) return decoded;
  }
  return {};
}

void ChunkDecoder::finish() {
  profile_.facts.merge(facts_);
  Diagnostics all = std::move(diagnostics_);
  all.merge(profile_.diagnostics);
  profile_.diagnostics = std::move(all);
  profile_.lost_samples += lost_samples_;
  profile_.clock_offset_ns = clock_offset_ns_;
}

std::uint64_t ChunkDecoder::memory_bytes() const {
  // Per entry: the column and its place in the table that finds it again.
  constexpr std::uint64_t kFrameBytes = 2 * sizeof(Frame) + 8;
  constexpr std::uint64_t kStackBytes = 32;
  const std::uint64_t ids =
      strings_.size() + frames_.size() + stacks_.size() + processes_.size() + threads_.size();
  return profile_.strings.memory_bytes() + profile_.frames.size() * kFrameBytes +
         profile_.stacks.size() * kStackBytes + profile_.samples.memory_bytes() +
         profile_.mappings.size() * sizeof(Mapping) + profile_.markers.size() * sizeof(Marker) +
         source_bytes_ + ids * sizeof(std::uint32_t);
}

// Ids 0 of these tables need no definition: the empty string, the empty stack, the unknown process and
// thread.
void ChunkDecoder::restart_tables(std::uint32_t sequence) {
  started_ = true;
  tables_sequence_ = sequence;
  strings_.clear();
  frames_.clear();
  stacks_.clear();
  processes_.clear();
  threads_.clear();
  strings_.add(StringId{});
  stacks_.add(kEmptyStack);
  processes_.add(ProcessId{});
  threads_.add(ThreadId{});
}

Result<void> ChunkDecoder::decode_section(Section section, Cursor in) {
  struct Known {
    Section section;
    const char* name;
    bool (ChunkDecoder::*decode)(Cursor in);
  };
  static constexpr std::array kKnown = {
      Known{Section::kStrings, "strings", &ChunkDecoder::decode_strings},
      Known{Section::kFrames, "frames", &ChunkDecoder::decode_frames},
      Known{Section::kStacks, "stacks", &ChunkDecoder::decode_stacks},
      Known{Section::kEvents, "events", &ChunkDecoder::decode_events},
      Known{Section::kProcesses, "processes", &ChunkDecoder::decode_processes},
      Known{Section::kThreads, "threads", &ChunkDecoder::decode_threads},
      Known{Section::kMappings, "mappings", &ChunkDecoder::decode_mappings},
      Known{Section::kMarkers, "markers", &ChunkDecoder::decode_markers},
      Known{Section::kFacts, "facts", &ChunkDecoder::decode_facts},
      Known{Section::kDiagnostics, "diagnostics", &ChunkDecoder::decode_diagnostics},
      Known{Section::kTotals, "totals", &ChunkDecoder::decode_totals},
      Known{Section::kSources, "sources", &ChunkDecoder::decode_sources},
  };
  const auto known = std::ranges::find(kKnown, section, &Known::section);
  if (known == kKnown.end()) {
    profile_.diagnostics.info("sections that this version does not know");
  } else if (!(this->*known->decode)(in)) {
    return fail(ErrorCode::kInvalidInput, std::string("malformed ") + known->name);
  }
  return {};
}

// How many definitions follow; nothing if that cannot be.
template <typename T>
std::optional<std::uint64_t> ChunkDecoder::begin_definitions(Cursor& in, IdTable<T>& table) {
  const std::uint64_t first = in.varint();
  const std::uint64_t count = in.varint();
  // Each definition takes at least a byte.
  if (first > kMaxId || count > in.remaining() || !table.resume_at(first)) return std::nullopt;
  return count;
}

bool ChunkDecoder::decode_strings(Cursor in) {
  const auto count = begin_definitions(in, strings_);
  if (!count) return false;
  Cursor sizes = split_column(in, *count);
  for (std::uint64_t i = 0; i < *count; ++i) {
    const std::string_view text = as_text(in.take(sizes.varint()));
    if (in.failed()) return false;
    strings_.add(profile_.strings.intern(text));
  }
  return in.finished();
}

bool ChunkDecoder::decode_frames(Cursor in) {
  const auto count = begin_definitions(in, frames_);
  if (!count) return false;
  IdColumn functions(in, *count);
  IdColumn files(in, *count);
  IdColumn modules(in, *count);
  Cursor lines = split_column(in, *count);
  Cursor columns = split_column(in, *count);
  const auto flags = in.take(*count);
  const bool has_function_places = in.remaining() > 0;
  Cursor function_lines = split_column(in, has_function_places ? *count : 0);
  Cursor function_columns = split_column(in, has_function_places ? *count : 0);
  const bool has_generated_places = in.remaining() > 0;
  IdColumn generated(in, has_generated_places ? *count : 0);
  if (!in.finished()) return false;
  Diagnostics& diagnostics = profile_.diagnostics;
  for (const std::byte flag : flags) {
    const auto bits = std::to_integer<unsigned>(flag);
    Frame frame;
    frame.function = string(functions.next());
    frame.file = string(files.next());
    frame.module = string(modules.next());
    frame.line = to_u32(lines.varint(), diagnostics);
    frame.column = to_u32(columns.varint(), diagnostics);
    frame.kind = to_enum(bits & kFrameKindMask, FrameKind::kWasm, diagnostics);
    frame.tier = to_enum((bits >> kFrameTierShift) & kFrameTierMask, JsTier::kTurbofan, diagnostics);
    frame.inlined = (bits & kFrameInlined) != 0;
    if (has_function_places) {
      frame.function_line = to_u32(function_lines.varint(), diagnostics);
      frame.function_column = to_u32(function_columns.varint(), diagnostics);
    }
    if (has_generated_places) frame.generated = string(generated.next());
    frames_.add(profile_.frames.intern(frame));
  }
  return true;
}

bool ChunkDecoder::decode_stacks(Cursor in) {
  const std::uint64_t first = Cursor(in).varint();
  const auto count = begin_definitions(in, stacks_);
  if (!count) return false;
  IdColumn frames(in, *count);
  Cursor distances = split_column(in, *count);
  if (!in.finished()) return false;
  for (std::uint64_t id = first; id < first + *count; ++id) {
    const std::uint64_t distance = distances.varint();
    if (distance == 0 || distance > id) return false;
    const StackId* caller = stacks_.find(id - distance);
    stacks_.add(profile_.stacks.push(caller != nullptr ? *caller : unknown_stack(), frame(frames.next())));
  }
  return true;
}

bool ChunkDecoder::decode_events(Cursor in) {
  events_.clear();
  while (in.remaining() > 0) {
    const std::string_view name = in.text();
    const Unit unit = to_enum(in.byte(), Unit::kCount, profile_.diagnostics);
    if (in.failed()) return false;
    events_.push_back(profile_.intern_event(name, unit));
  }
  return true;
}

bool ChunkDecoder::decode_processes(Cursor in) {
  const auto count = begin_definitions(in, processes_);
  if (!count) return false;
  for (std::uint64_t i = 0; i < *count && !in.failed(); ++i) {
    const std::int32_t pid = to_i32(in.signed_varint(), profile_.diagnostics);
    const StringId name = string(in.varint());
    if (!in.failed()) processes_.add(profile_.intern_process(pid, profile_.text(name)));
  }
  return in.finished();
}

bool ChunkDecoder::decode_threads(Cursor in) {
  const auto count = begin_definitions(in, threads_);
  if (!count) return false;
  for (std::uint64_t i = 0; i < *count && !in.failed(); ++i) {
    const ProcessId owner = process(in.varint());
    const std::int32_t tid = to_i32(in.signed_varint(), profile_.diagnostics);
    const StringId name = string(in.varint());
    if (!in.failed()) threads_.add(profile_.intern_thread(owner, tid, profile_.text(name)));
  }
  return in.finished();
}

bool ChunkDecoder::decode_mappings(Cursor in) {
  while (in.remaining() > 0) {
    Mapping mapping;
    mapping.process = process(in.varint());
    mapping.start = in.varint();
    mapping.end = in.varint();
    mapping.file_offset = in.varint();
    mapping.file = string(in.varint());
    mapping.build_id = string(in.varint());
    if (in.failed()) return false;
    profile_.mappings.push_back(mapping);
  }
  return true;
}

bool ChunkDecoder::decode_markers(Cursor in) {
  while (in.remaining() > 0) {
    Marker marker;
    marker.time_ns = in.signed_varint();
    marker.duration_ns = in.signed_varint();
    marker.thread = thread(in.varint());
    const std::uint8_t kind = in.byte();
    marker.kind =
        kind <= static_cast<std::uint8_t>(MarkerKind::kLost) ? MarkerKind{kind} : MarkerKind::kOther;
    marker.name = string(in.varint());
    if (in.failed()) return false;
    profile_.markers.push_back(marker);
  }
  return true;
}

bool ChunkDecoder::decode_sources(Cursor in) {
  while (in.remaining() > 0) {
    const StringId file = string(in.varint());
    const std::string_view text = in.text();
    if (in.failed()) return false;
    // A chunk that could be written only in part is written again.
    if (file == StringId{} || !source_files_.insert(file.value).second) continue;
    profile_.sources.push_back({file, std::string(text)});
    source_bytes_ += text.size();
  }
  return true;
}

bool ChunkDecoder::decode_facts(Cursor in) {
  std::map<std::string, std::string> facts;
  while (in.remaining() > 0) {
    const std::string_view key = in.text();
    const std::string_view value = in.text();
    if (in.failed()) return false;
    facts.insert_or_assign(std::string(key), std::string(value));
  }
  facts_ = std::move(facts);
  return true;
}

bool ChunkDecoder::decode_diagnostics(Cursor in) {
  Diagnostics diagnostics;
  // Adding is linear in the number of kinds; no recording has more than there are call sites.
  for (int kinds = 0; in.remaining() > 0 && kinds < kMaxDiagnosticKinds; ++kinds) {
    const Severity severity = to_enum(in.byte(), Severity::kError, profile_.diagnostics);
    const std::uint64_t count = in.varint();
    const std::string_view what = in.text();
    const std::string_view example = in.text();
    if (in.failed()) return false;
    diagnostics.add(severity, what, example, count);
  }
  diagnostics_ = std::move(diagnostics);
  return true;
}

bool ChunkDecoder::decode_totals(Cursor in) {
  const std::uint64_t lost_samples = in.varint();
  const std::int64_t clock_offset_ns = in.signed_varint();
  if (in.failed()) return false;
  lost_samples_ = lost_samples;
  clock_offset_ns_ = clock_offset_ns;
  return true;
}

bool ChunkDecoder::decode_samples(std::span<const std::byte> section, const ChunkHeader& header) {
  const SampleBlock* block = sample_parser_.parse(section, header.first_time_ns);
  if (block == nullptr || block->size() != header.sample_count) return false;
  const auto [first, last] = std::ranges::minmax(block->time_ns);
  if (first != header.first_time_ns || last != header.last_time_ns) return false;

  contexts_.clear();
  for (const BlockContext& context : block->contexts) {
    if (context.event >= events_.size()) return false;
    const bool has_cpu = context.cpu_plus_one != 0 && context.cpu_plus_one <= kMaxCpu;
    const std::int32_t cpu = has_cpu ? static_cast<std::int32_t>(context.cpu_plus_one) - 1 : kUnknownCpu;
    contexts_.push_back(profile_.samples.intern({thread(context.thread), cpu, events_[context.event]}));
  }
  std::uint64_t lost_stacks = 0;
  sample_stacks_.clear();
  for (const std::uint32_t id : block->stack) {
    const StackId* stack = stacks_.find(id);
    if (stack == nullptr) ++lost_stacks;
    sample_stacks_.push_back(stack != nullptr ? *stack : unknown_stack());
  }
  sample_contexts_.clear();
  for (const std::uint32_t context : block->context) sample_contexts_.push_back(contexts_[context]);
  profile_.samples.append({block->time_ns, sample_stacks_, sample_contexts_, block->weight});
  profile_.diagnostics.add(Severity::kWarning, kLostStack, {}, lost_stacks);
  return true;
}

StringId ChunkDecoder::string(std::uint64_t id) {
  if (const StringId* found = strings_.find(id)) return *found;
  profile_.diagnostics.warn(kLostName, "string");
  return {};
}

FrameId ChunkDecoder::frame(std::uint64_t id) {
  if (const FrameId* found = frames_.find(id)) return *found;
  profile_.diagnostics.warn(kLostName, "frame");
  return profile_.frames.intern(Frame{});
}

ProcessId ChunkDecoder::process(std::uint64_t id) {
  if (const ProcessId* found = processes_.find(id)) return *found;
  profile_.diagnostics.warn(kLostName, "process");
  return {};
}

ThreadId ChunkDecoder::thread(std::uint64_t id) {
  if (const ThreadId* found = threads_.find(id)) return *found;
  profile_.diagnostics.warn(kLostName, "thread");
  return {};
}

StackId ChunkDecoder::unknown_stack() {
  return profile_.stacks.push(kEmptyStack, profile_.frames.intern(Frame{}));
}

}  // namespace nodescope::recording
