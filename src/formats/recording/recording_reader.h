#pragma once

// Finds the chunks of a .nscope file and puts them together.  Runs in the page as well: see chunk_decoder.h.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/diagnostics.h"
#include "base/progress.h"
#include "base/result.h"
#include "formats/recording/layout.h"
#include "model/profile.h"

namespace nodescope::recording {

// Whether `head` is the beginning of a recording, with its file header or, if that is damaged, with its first
// chunk.
bool is_recording(std::string_view head);

struct Chunk {
  std::uint64_t offset = 0;
  ChunkHeader header;
  std::span<const std::byte> stored;  // the payload as it is in the file; its checksum is right
};

// Goes through the chunks of a file without decompressing them, so that a reader may choose by time.  Damage
// is skipped up to the next whole chunk, and counted.
class ChunkScanner {
 public:
  // `diagnostics` must outlive the scanner.
  ChunkScanner(std::span<const std::byte> file, Diagnostics& diagnostics);

  std::optional<Chunk> next();

  // How many samples were written, as far as the headers seen so far can tell, including those of damaged
  // chunks.
  std::uint64_t promised_samples() const { return promised_samples_; }

 private:
  enum class Verdict : std::uint8_t { kWhole, kNoHeader, kCut, kDamaged };

  Verdict examine(std::size_t offset, Chunk& chunk);
  std::size_t find_magic(std::size_t from) const;
  void report(Verdict verdict, std::size_t begin, std::size_t end);

  std::span<const std::byte> file_;
  Diagnostics& diagnostics_;
  std::size_t position_ = kFileHeaderBytes;
  std::uint64_t promised_samples_ = 0;
  std::uint64_t checksum_budget_;
};

// Fills `raw` with the decompressed content of a zstd frame; false if that is not exactly what it holds.
using Decompress = bool (*)(std::span<const std::byte> stored, std::span<std::byte> raw);

enum class Samples : bool { kRead, kLeftOut };

// `name` is what messages call the file.
Result<Profile> read_recording(std::span<const std::byte> file, std::string_view name, Decompress decompress,
                               Progress* progress, Samples samples = Samples::kRead);

}  // namespace nodescope::recording
