#include "formats/recording/recording_writer.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/text.h"
#include "formats/recording/crc32.h"
#include "formats/recording/varint.h"

namespace nodescope {

using recording::ChunkHeader;
using recording::put_text;
using recording::put_varint;
using recording::Section;
using recording::zigzag;

namespace {

constexpr std::uint32_t kNotInBlock = std::numeric_limits<std::uint32_t>::max();

// Bounds for what a profile says about itself, so that a chunk stays far below kMaxRawBytes whatever it
// holds.
constexpr std::size_t kMaxFactBytes = 256 * 1024;
constexpr std::size_t kMaxEventNameBytes = 4 * 1024;
constexpr std::size_t kMaxSummaryBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxListBytes = std::size_t{4} << 20;
constexpr std::size_t kMaxSourceBytes = std::size_t{16} << 20;

void put_section(std::string& out, Section section, std::string_view content) {
  if (content.empty()) return;
  out += static_cast<char>(section);
  put_text(out, content);
}

std::string encode_facts(const Profile& profile) {
  std::string content;
  for (const auto& [key, value] : profile.facts) {
    if (content.size() > kMaxSummaryBytes) break;
    put_text(content, std::string_view(key).substr(0, kMaxFactBytes));
    put_text(content, std::string_view(value).substr(0, kMaxFactBytes));
  }
  return content;
}

std::string encode_diagnostics(const Profile& profile, std::int64_t time_step_ns) {
  std::string content;
  Diagnostics diagnostics = profile.diagnostics;
  if (time_step_ns > 1) {
    diagnostics.info("times are rounded, so that the file is smaller",
                     "to " + human_duration_ns(static_cast<std::uint64_t>(time_step_ns)));
  }
  for (const Diagnostic& entry : diagnostics.entries()) {
    if (content.size() > kMaxSummaryBytes) break;
    content += static_cast<char>(entry.severity);
    put_varint(content, entry.count);
    put_text(content, std::string_view(entry.what).substr(0, kMaxFactBytes));
    put_text(content, std::string_view(entry.example).substr(0, kMaxFactBytes));
  }
  return content;
}

std::int64_t rounded_down(std::int64_t time_ns, std::int64_t step_ns) {
  if (step_ns == 1) return time_ns;
  const std::int64_t beyond = time_ns % step_ns;
  // The earliest time that there is has nothing below it.
  if (beyond < 0 && time_ns < std::numeric_limits<std::int64_t>::min() + step_ns) return time_ns;
  return time_ns - (beyond < 0 ? beyond + step_ns : beyond);
}

std::string encode_events(const Profile& profile) {
  std::string content;
  for (const Event& event : profile.events()) {
    put_text(content, profile.text(event.name).substr(0, kMaxEventNameBytes));
    content += static_cast<char>(event.unit);
  }
  return content;
}

std::string encode_summary(const Profile& profile, std::int64_t time_step_ns) {
  std::string totals;
  put_varint(totals, profile.lost_samples);
  put_varint(totals, zigzag(profile.clock_offset_ns));
  std::string summary;
  put_section(summary, Section::kFacts, encode_facts(profile));
  put_section(summary, Section::kDiagnostics, encode_diagnostics(profile, time_step_ns));
  put_section(summary, Section::kTotals, totals);
  return summary;
}

}  // namespace

RecordingWriter::RecordingWriter(ByteSink& sink, const RecordingOptions& options)
    : sink_(sink), options_(options), zstd_(ZSTD_createCCtx()) {
  NODESCOPE_CHECK(zstd_ != nullptr && options_.samples_per_chunk > 0 && options_.time_step_ns > 0);
  ZSTD_CCtx_setParameter(zstd_.get(), ZSTD_c_compressionLevel, options_.zstd_level);
}

Result<void> RecordingWriter::append(const Profile& profile) {
  if (auto written = write_file_header(); !written) return written;
  const std::string summary = encode_summary(profile, options_.time_step_ns);
  const Position end{profile.events().size(), profile.processes().size(), profile.threads().size(),
                     profile.mappings.size(), profile.markers.size(),     profile.sources.size(),
                     profile.samples.size()};
  while (position_ != end || summary != summary_) {
    if (auto written = write_next_chunk(profile, summary); !written) return written;
  }
  return {};
}

void RecordingWriter::forget_samples() {
  position_.samples = 0;
  position_.markers = 0;
}

Result<void> RecordingWriter::finish(const Profile& profile) {
  if (auto written = append(profile); !written) return written;
  ChunkHeader end;
  end.kind = recording::ChunkKind::kEnd;
  end.tables_sequence = tables_sequence_;
  end.first_sample = samples_written_;
  return write_chunk(end, {});
}

Result<void> RecordingWriter::write_file_header() {
  if (header_written_) return {};
  const auto header = encode(recording::FileHeader{});
  if (auto written = sink_.write(as_text(header)); !written) return written;
  written_bytes_ += header.size();
  header_written_ = true;
  return {};
}

Result<void> RecordingWriter::write_next_chunk(const Profile& profile, const std::string& summary) {
  const Position before = position_;
  const bool tables_begin = tables_begin_;
  if (tables_begin) begin_tables();

  ChunkHeader header;
  header.tables_sequence = tables_sequence_;
  std::string body;
  encode_definitions(profile);
  encode_mappings(profile, body);
  encode_markers(profile, body);
  encode_sources(profile, body);
  encode_samples(profile, body, header);
  position_.events = profile.events().size();
  if (tables_begin || summary != summary_) body += summary;

  std::string payload;
  tables_.flush(payload);
  payload += body;
  if (auto written = write_chunk(header, payload); !written) {
    position_ = before;
    tables_begin_ = true;
    return written;
  }
  summary_ = summary;
  samples_written_ += header.sample_count;
  // Not in the midst of a stack that takes several chunks to define, or it would never be whole.
  tables_begin_ = sequence_ - tables_sequence_ >= options_.chunks_per_tables && header.sample_count > 0;
  return {};
}

Result<void> RecordingWriter::write_chunk(ChunkHeader header, std::string_view payload) {
  NODESCOPE_CHECK(payload.size() <= recording::kMaxRawBytes);
  stored_.resize(recording::kChunkHeaderBytes + ZSTD_compressBound(payload.size()));
  const std::size_t compressed =
      ZSTD_compress2(zstd_.get(), stored_.data() + recording::kChunkHeaderBytes,
                     stored_.size() - recording::kChunkHeaderBytes, payload.data(), payload.size());
  const bool smaller = !ZSTD_isError(compressed) && compressed < payload.size();
  stored_.resize(recording::kChunkHeaderBytes + (smaller ? compressed : payload.size()));
  if (!smaller) std::ranges::copy(payload, stored_.begin() + recording::kChunkHeaderBytes);

  const auto stored = as_byte_span(stored_).subspan(recording::kChunkHeaderBytes);
  header.codec = smaller ? recording::Codec::kZstd : recording::Codec::kNone;
  header.sequence = sequence_++;
  header.first_sample = samples_written_;
  header.raw_bytes = static_cast<std::uint32_t>(payload.size());
  header.stored_bytes = static_cast<std::uint32_t>(stored.size());
  header.payload_crc = recording::crc32(stored);
  const auto encoded = encode(header);
  std::ranges::copy(as_text(encoded), stored_.begin());
  if (auto written = sink_.write(stored_); !written) return written;
  written_bytes_ += stored_.size();
  return {};
}

void RecordingWriter::begin_tables() {
  tables_.restart();
  tables_sequence_ = sequence_;
}

// Processes and threads are defined when they appear, even if no sample names them; after that only where one
// does.
void RecordingWriter::encode_definitions(const Profile& profile) {
  for (; position_.processes < profile.processes().size() && !tables_.is_full(); ++position_.processes) {
    tables_.process(profile, ProcessId{position_.processes});
  }
  for (; position_.threads < profile.threads().size() && !tables_.is_full(); ++position_.threads) {
    tables_.thread(profile, ThreadId{position_.threads});
  }
}

void RecordingWriter::encode_mappings(const Profile& profile, std::string& body) {
  std::string content;
  for (; position_.mappings < profile.mappings.size(); ++position_.mappings) {
    if (tables_.is_full() || content.size() > kMaxListBytes) break;
    const Mapping& mapping = profile.mappings[position_.mappings];
    put_varint(content, tables_.process(profile, mapping.process));
    put_varint(content, mapping.start);
    put_varint(content, mapping.end);
    put_varint(content, mapping.file_offset);
    put_varint(content, tables_.string(profile, mapping.file));
    put_varint(content, tables_.string(profile, mapping.build_id));
  }
  put_section(body, Section::kMappings, content);
}

void RecordingWriter::encode_markers(const Profile& profile, std::string& body) {
  std::string content;
  for (; position_.markers < profile.markers.size(); ++position_.markers) {
    if (tables_.is_full() || content.size() > kMaxListBytes) break;
    const Marker& marker = profile.markers[position_.markers];
    put_varint(content, zigzag(marker.time_ns));
    put_varint(content, zigzag(marker.duration_ns));
    put_varint(content, tables_.thread(profile, marker.thread));
    content += static_cast<char>(marker.kind);
    put_varint(content, tables_.string(profile, marker.name));
  }
  put_section(body, Section::kMarkers, content);
}

void RecordingWriter::encode_sources(const Profile& profile, std::string& body) {
  std::string content;
  for (; position_.sources < profile.sources.size(); ++position_.sources) {
    if (tables_.is_full() || content.size() > kMaxListBytes) break;
    const SourceText& source = profile.sources[position_.sources];
    if (source.text.size() > kMaxSourceBytes) continue;
    put_varint(content, tables_.string(profile, source.file));
    put_text(content, source.text);
  }
  put_section(body, Section::kSources, content);
}

void RecordingWriter::encode_samples(const Profile& profile, std::string& body, ChunkHeader& header) {
  block_.clear();
  block_contexts_.assign(profile.samples.contexts().size(), kNotInBlock);
  while (position_.samples < profile.samples.size() && block_.size() < options_.samples_per_chunk) {
    const std::size_t i = position_.samples;
    const StackId stack = profile.samples.stack(i);
    if (tables_.is_full() || !tables_.define_stack(profile, stack)) break;
    block_.context.push_back(context_in_block(profile, profile.samples.context_id(i)));
    block_.time_ns.push_back(rounded_down(profile.samples.time_ns(i), options_.time_step_ns));
    block_.stack.push_back(tables_.stack(stack));
    block_.weight.push_back(profile.samples.weight(i));
    ++position_.samples;
  }
  if (block_.size() != 0 || position_.events != profile.events().size()) {
    put_section(body, Section::kEvents, encode_events(profile));
  }
  if (block_.size() == 0) return;
  const auto [first, last] = std::ranges::minmax(block_.time_ns);
  header.first_time_ns = first;
  header.last_time_ns = last;
  header.sample_count = static_cast<std::uint32_t>(block_.size());
  put_section(body, Section::kSamples, recording::encode_samples(block_, first));
}

std::uint32_t RecordingWriter::context_in_block(const Profile& profile, ContextId id) {
  std::uint32_t& index = block_contexts_[id.index()];
  if (index == kNotInBlock) {
    const SampleContext& context = profile.samples.contexts()[id.index()];
    index = static_cast<std::uint32_t>(block_.contexts.size());
    block_.contexts.push_back({tables_.thread(profile, context.thread),
                               static_cast<std::uint32_t>(context.cpu + 1), context.event.value});
  }
  return index;
}

}  // namespace nodescope
