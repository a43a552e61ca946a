#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"
#include "base/result.h"
#include "formats/recording/layout.h"
#include "formats/recording/sample_block.h"
#include "formats/recording/table_encoder.h"
#include "model/profile.h"

namespace nodescope {

struct RecordingOptions {
  // A chunk holds at most so many samples; fewer where append() is called more often.
  std::uint32_t samples_per_chunk = 256 * 1024;
  // A lost chunk costs names until the tables begin anew.
  std::uint32_t chunks_per_tables = 64;
  int zstd_level = 3;
  // Times of samples are rounded down to multiples of this, and the recording says so.  Most of a long
  // recording is the jitter of its times.
  std::int64_t time_step_ns = 1;
};

// Writes a .nscope file while the profile grows: a live session calls append() about once a second.  Each
// chunk is one write to the sink, so that a recorder that is killed leaves at most one chunk that is not
// whole.
class RecordingWriter {
 public:
  explicit RecordingWriter(ByteSink& sink, const RecordingOptions& options = {});

  // Writes what `profile` has more than at the last call; nothing if that is nothing.  Between calls the
  // profile may only grow.  After an error the sink may hold part of a chunk; the next call writes that
  // content again, behind it.
  Result<void> append(const Profile& profile);

  // The profile has forgotten the samples and markers that it had at the last append(), which wrote all of
  // them.
  void forget_samples();

  // The last call.  Without it the recording reads as interrupted.
  Result<void> finish(const Profile& profile);

  std::uint64_t written_bytes() const { return written_bytes_; }

 private:
  // How much of the profile has been written.
  struct Position {
    std::size_t events = 0;
    std::size_t processes = 0;
    std::size_t threads = 0;
    std::size_t mappings = 0;
    std::size_t markers = 0;
    std::size_t sources = 0;
    std::size_t samples = 0;

    bool operator==(const Position&) const = default;
  };

  struct FreeZstd {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  Result<void> write_file_header();
  Result<void> write_next_chunk(const Profile& profile, const std::string& summary);
  Result<void> write_chunk(recording::ChunkHeader header, std::string_view payload);

  void begin_tables();
  void encode_definitions(const Profile& profile);
  void encode_mappings(const Profile& profile, std::string& body);
  void encode_markers(const Profile& profile, std::string& body);
  void encode_sources(const Profile& profile, std::string& body);
  void encode_samples(const Profile& profile, std::string& body, recording::ChunkHeader& header);
  std::uint32_t context_in_block(const Profile& profile, ContextId id);

  ByteSink& sink_;
  RecordingOptions options_;
  std::unique_ptr<ZSTD_CCtx, FreeZstd> zstd_;
  std::string stored_;  // buffer for a chunk as it is written
  recording::TableEncoder tables_;
  recording::SampleBlock block_;
  std::vector<std::uint32_t> block_contexts_;  // index in block_ by ContextId

  bool header_written_ = false;
  bool tables_begin_ = true;
  std::uint32_t sequence_ = 0;
  std::uint32_t tables_sequence_ = 0;
  std::uint64_t samples_written_ = 0;
  std::uint64_t written_bytes_ = 0;
  Position position_;
  std::string summary_;  // facts, diagnostics and totals as last written
};

}  // namespace nodescope
