#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/perf_script/sample_line.h"
#include "formats/perf_script/sample_parts.h"
#include "formats/perf_script/stack_builder.h"
#include "model/profile.h"

namespace nodescope {

// Where a sample was taken, in words.
struct ScriptContext {
  StringId comm;
  std::optional<std::int32_t> pid;
  std::optional<std::int32_t> tid;
  std::int32_t cpu = kUnknownCpu;
  StringId event;
  Unit unit = Unit::kSamples;
};

constexpr std::uint32_t kNoHeader = 0;  // the context of a stack without the line that says it

struct ScriptSample {
  std::int64_t time_ns = 0;
  std::uint64_t weight = 1;
  StackId stack;
  std::uint32_t context = kNoHeader;
};

struct ScriptPart {
  std::size_t index = 0;
  std::vector<ScriptSample> samples = {};
  std::map<std::string, std::string> facts = {};
  Diagnostics diagnostics = {};
  std::uint64_t lost_samples = 0;
};

// A sample that is being read.
struct OpenSample {
  std::uint32_t context = kNoHeader;
  std::int64_t time_ns = 0;
  std::uint64_t weight = 1;
  std::string rest = {};  // may be its only frame
  bool is_only_name = false;
};

// Reads parts of a perf script text.  What it finds has ids of its own; build_profile joins several readers'
// parts.
class ScriptReader {
 public:
  ScriptReader() = default;
  ScriptReader(const ScriptReader&) = delete;
  ScriptReader(ScriptReader&&) = delete;

  Result<void> read(SampleLines& lines, const SamplePart& part);

  // Strings, frames and stacks that the parts refer to.
  const Profile& tables() const { return tables_; }
  const std::vector<ScriptContext>& contexts() const { return contexts_; }
  const std::vector<ScriptPart>& parts() const { return parts_; }

 private:
  std::size_t read_block(const LineBlock& block, bool at_end);
  std::size_t read_frame(const LineBlock& block, std::size_t i);
  bool read_other_line(std::string_view line);
  void read_comment(std::string_view line);
  void open_sample(const SampleLine& line);
  void finish_sample();
  std::uint32_t context_of(const SampleLine& line);
  std::optional<std::vector<FrameId>> interpret(std::string_view text);
  void warn(std::string_view what, std::string_view line);

  Profile tables_;
  std::vector<ScriptContext> contexts_ = std::vector<ScriptContext>(kNoHeader + 1);
  std::vector<ScriptPart> parts_;

  LineHashes hashes_;
  LineTable lines_{[this](std::string_view text) { return interpret(text); }};
  StackBuilder builder_{tables_.stacks};
  FlatMap<std::string, std::uint32_t> context_ids_;  // by the text that says it
  std::string context_text_;
  std::optional<OpenSample> open_;
  bool in_record_ = false;  // its further lines are of no interest
};

// One profile of everything, with samples in the order of the text.  Ids are given in that order too, so that
// the result does not depend on who read what.
Profile build_profile(const std::vector<std::unique_ptr<ScriptReader>>& readers);

}  // namespace nodescope
