#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/line_reader.h"
#include "formats/format.h"
#include "formats/read_ahead.h"

namespace nodescope {

// A part of a text of samples.  Samples end with an empty line; a part holds those that begin in [begin,
// end).
struct SamplePart {
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;  // of a whole text: to wherever it ends
  std::size_t index = 0;
};

// The lines of one part.
class SampleLines {
 public:
  // A whole source, in order.
  SampleLines(ByteSource& source, Progress* progress) : reader_(source, progress) {}
  SampleLines(ByteSource& source, Progress* progress, const SamplePart& part);

  Result<std::optional<LineBlock>> next();

  // See LineReader.
  void keep_from(std::size_t begin) { reader_.keep_from(begin); }
  bool at_end() const { return reader_.at_end(); }
  std::uint64_t lines_left_out() const { return reader_.lines_left_out(); }

 private:
  std::optional<LineBlock> from_first_sample(const LineBlock& block);
  LineBlock up_to_end(const LineBlock& block);

  LineReader reader_;
  SamplePart part_;
  bool starts_inside_ = false;  // the beginning of the part lies in a sample of the part before
  bool first_line_is_whole_ = true;
  bool is_done_ = false;
};

// How a source is cut: into one part if it cannot be read at random or is small.
std::vector<SamplePart> cut_into_parts(const ByteSource& source, unsigned threads);

// A second thread is of use to a source that cannot be cut, too: it reads while the first parses.
template <typename Worker>
Result<void> read_whole_text(ByteSource& source, const ReadOptions& options, const SamplePart& part,
                             Worker& worker) {
  std::optional<ReadAhead> ahead;
  if (options.threads > 1 && !source.size()) ahead.emplace(source);
  SampleLines lines(ahead ? static_cast<ByteSource&>(*ahead) : source, options.progress);
  return worker.read(lines, part);
}

// Calls worker.read(lines, part) for each part, with one thread per worker.  The first part is read before
// the others begin: what it finds out may govern them (`after_first`).  Of several errors the one of the
// first part counts.
template <typename Worker, typename AfterFirst>
Result<void> read_parts(ByteSource& source, const ReadOptions& options, const std::vector<SamplePart>& parts,
                        std::vector<std::unique_ptr<Worker>>& workers, AfterFirst after_first) {
  if (parts.size() == 1) return read_whole_text(source, options, parts[0], *workers[0]);
  const auto read_part = [&](Worker& worker, const SamplePart& part) {
    SampleLines lines(source, options.progress, part);
    return worker.read(lines, part);
  };
  std::size_t done = 0;
  do {
    if (const auto result = read_part(*workers[0], parts[done]); !result) return result;
    ++done;
  } while (done < parts.size() && !after_first());

  std::atomic<std::size_t> next = done;
  std::mutex mutex;
  std::optional<std::pair<std::size_t, Error>> first_error;
  const auto run = [&](Worker& worker) {
    for (std::size_t i = next++; i < parts.size(); i = next++) {
      const auto result = read_part(worker, parts[i]);
      if (result) continue;
      const std::lock_guard lock(mutex);
      if (!first_error || i < first_error->first) first_error = {i, result.error()};
      next = parts.size();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers.size(); ++i)
      threads.emplace_back([&run, &worker = *workers[i]] { run(worker); });
    run(*workers[0]);
  }
  if (first_error) return std::unexpected(first_error->second);
  return {};
}

}  // namespace nodescope
