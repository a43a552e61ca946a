#pragma once

// Turns the decompressed payloads of chunks into a profile.  Runs in the page as well: no system calls, no
// threads, no exceptions, nothing but base and model.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/flat_map.h"
#include "base/result.h"
#include "formats/recording/id_table.h"
#include "formats/recording/layout.h"
#include "formats/recording/sample_block.h"
#include "formats/recording/varint.h"
#include "model/profile.h"

namespace nodescope::recording {

class ChunkDecoder {
 public:
  explicit ChunkDecoder(Profile& profile);

  // Adds what one chunk holds.  Chunks must come in the order of their sequence numbers; some may be missing,
  // then names that only those defined are unknown and counted.  An error means that the payload contradicts
  // itself: what came before the contradiction is kept, but of the chunk's samples all or none.  Without
  // `with_samples` only definitions.
  Result<void> decode(const ChunkHeader& header, std::span<const std::byte> payload,
                      bool with_samples = true);

  // After the last chunk: what the recording says about itself as of its last word.
  void finish();

  // About what the profile and its tables take, so that a caller can stop before it takes too much.
  std::uint64_t memory_bytes() const;

 private:
  void restart_tables(std::uint32_t sequence);
  Result<void> decode_section(Section section, Cursor in);
  bool decode_strings(Cursor in);
  bool decode_frames(Cursor in);
  bool decode_stacks(Cursor in);
  bool decode_events(Cursor in);
  bool decode_processes(Cursor in);
  bool decode_threads(Cursor in);
  bool decode_mappings(Cursor in);
  bool decode_markers(Cursor in);
  bool decode_facts(Cursor in);
  bool decode_diagnostics(Cursor in);
  bool decode_totals(Cursor in);
  bool decode_sources(Cursor in);
  bool decode_samples(std::span<const std::byte> section, const ChunkHeader& header);

  template <typename T>
  std::optional<std::uint64_t> begin_definitions(Cursor& in, IdTable<T>& table);
  StringId string(std::uint64_t id);
  FrameId frame(std::uint64_t id);
  ProcessId process(std::uint64_t id);
  ThreadId thread(std::uint64_t id);
  StackId unknown_stack();

  Profile& profile_;
  bool started_ = false;
  std::uint32_t tables_sequence_ = 0;
  IdTable<StringId> strings_;
  IdTable<FrameId> frames_;
  IdTable<StackId> stacks_;
  std::vector<EventId> events_;  // of the chunk being decoded
  IdTable<ProcessId> processes_;
  IdTable<ThreadId> threads_;
  FlatSet<std::uint64_t> source_files_;  // ids in the profile
  std::uint64_t source_bytes_ = 0;
  SampleParser sample_parser_;
  std::vector<ContextId> contexts_;
  // Of the block being decoded.
  std::vector<StackId> sample_stacks_;
  std::vector<ContextId> sample_contexts_;

  std::map<std::string, std::string> facts_;
  Diagnostics diagnostics_;
  std::uint64_t lost_samples_ = 0;
  std::int64_t clock_offset_ns_ = 0;
};

}  // namespace nodescope::recording
