#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/folded/folded_paths.h"
#include "formats/perf_script/collapse.h"
#include "formats/perf_script/perl_number.h"
#include "formats/perf_script/perl_rules.h"
#include "formats/perf_script/sample_parts.h"
#include "formats/perf_script/stack_builder.h"

namespace nodescope {

// Paths and the sums of their periods, each by StackId.
struct CollapsedPaths {
  FoldedPaths paths;
  std::vector<PerlNumber> sums;
  std::vector<bool> is_written;
};

// The first of its kind in a text, whichever thread met it.
struct FirstInText {
  std::size_t part = SIZE_MAX;
  std::string text;

  void offer(std::size_t at, std::string_view what) {
    if (at < part) *this = {at, std::string(what)};
  }
};

// Does to the lines of a text what the script does, its state included: a sample may have several headers,
// and frames collect until an empty line whatever comes between.
class Collapser {
 public:
  explicit Collapser(const CollapseOptions& options)
      : options_(options), event_filter_(options.event_filter) {}
  Collapser(const Collapser&) = delete;
  Collapser(Collapser&&) = delete;

  Result<void> read(SampleLines& lines, const SamplePart& part);

  const std::string& event_filter() const { return event_filter_; }
  void set_event_filter(const std::string& event) {
    event_filter_ = event;
    filters_by_default_ = options_.event_filter.empty();
  }

  // What was found.  The first gives its paths away; the others' are added to them.
  CollapsedPaths take();
  void add_to(CollapsedPaths& total) const;

  const FirstInText& other_event() const { return other_event_; }
  const FirstInText& unrecognised() const { return unrecognised_; }
  std::uint64_t unrecognised_count() const { return unrecognised_count_; }
  std::uint64_t lines_left_out() const { return lines_left_out_; }
  std::uint64_t unterminated_count() const { return unterminated_count_; }

 private:
  void read_block(const LineBlock& block);

  std::size_t read_block_with_source_lines(const LineBlock& block, bool at_end);
  std::size_t source_lines_of(std::string_view line);

  // False if the line is no header.
  bool read_header(std::string_view line);
  void set_process(const PerlHeader& header);

  LineTable& table() { return is_java_ ? java_lines_ : lines_; }
  void read_frame(const WideHash& hash, std::string_view line) {
    if (root_ != kEmptyStack && !builder_.add(table(), hash, line)) note_unrecognised(line);
  }

  void note_unrecognised(std::string_view line);
  void save_sample() {
    if (root_ == kEmptyStack) return;
    const std::uint32_t stack = builder_.finish(root_);
    if (stack == sums_.size()) sums_.emplace_back();
    sums_[stack] += period_;
    end_sample();
  }

  void end_sample();

  template <typename PathOf>
  void add_sums(CollapsedPaths& total, PathOf path_of) const;

  std::optional<std::vector<FrameId>> interpret(std::string_view text, bool is_java);
  StackId push(StackId path, std::string_view names);

  const CollapseOptions& options_;
  std::string event_filter_;
  bool filters_by_default_ = false;
  FirstInText other_event_;
  FirstInText unrecognised_;
  std::uint64_t unrecognised_count_ = 0;
  std::uint64_t lines_left_out_ = 0;
  std::uint64_t unterminated_count_ = 0;
  std::size_t part_ = 0;

  LineHashes hashes_;
  FoldedPaths paths_;
  std::vector<PerlNumber> sums_;  // by the number of the stack
  LineTable lines_{[this](std::string_view text) { return interpret(text, false); }};
  LineTable java_lines_{[this](std::string_view text) { return interpret(text, true); }};
  LineTable source_line_counts_{
      [this](std::string_view line) { return std::vector<FrameId>(source_lines_of(line)); }};
  StackBuilder builder_{paths_.table()};

  // The sample that is being read.  No root: its event is left out, or there is none.
  StackId root_;
  std::string process_;  // what `process_root_` is called
  StackId process_root_;
  bool is_java_ = false;
  PerlNumber period_;
};

}  // namespace nodescope
