#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "model/profile.h"

namespace nodescope::pprof {

// The strings of a file under construction.  Text 0 is empty.
class StringWriter {
 public:
  StringWriter() { intern(""); }

  // Other tools refuse a file with text that is not valid UTF-8, so each wrong byte becomes U+FFFD.
  std::uint64_t intern(std::string_view text);
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  FlatMap<std::string, std::uint64_t> ids_;
};

struct WrittenMapping {
  std::uint64_t start = 0;
  std::uint64_t limit = 0;
  std::uint64_t file_offset = 0;
  std::uint64_t file = 0;
  std::uint64_t build_id = 0;
};

struct WrittenFunction {
  std::uint64_t name = 0;
  std::uint64_t system_name = 0;
  std::uint64_t file = 0;
  std::uint32_t begin_line = 0;
};

struct WrittenLine {
  std::uint64_t function_id = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct WrittenLocation {
  std::uint64_t mapping_id = 0;
  std::size_t first_line = 0;
  std::size_t line_count = 0;
};

// Stacks of a profile as pprof's locations.  A frame and those inlined into it share one.  Ids are places
// plus one.
class LocationTable {
 public:
  LocationTable(const Profile& profile, StringWriter& strings);

  // Location ids of `stack`, innermost first.
  void unwind(StackId stack, std::vector<std::uint64_t>& ids);

  const std::vector<WrittenMapping>& mappings() const { return mappings_; }
  const std::vector<WrittenFunction>& functions() const { return functions_; }
  const std::vector<WrittenLocation>& locations() const { return locations_; }
  const std::vector<WrittenLine>& lines() const { return lines_; }

 private:
  // The location that begins at a stack's innermost frame, and the stack below it.
  struct Step {
    std::uint32_t location_id = 0;  // 0: not made yet
    StackId callers;
  };

  const Step& step(StackId stack);
  std::uint32_t make_location(const std::vector<FrameId>& frames);
  std::uint64_t function_of(FrameId frame, bool inlined);
  std::uint64_t mapping_of(StringId module);

  const Profile& profile_;
  StringWriter& strings_;
  Profile scratch_;
  std::vector<Step> steps_;  // by stack
  std::vector<FrameId> group_;
  FlatMap<std::string, std::uint32_t> location_ids_;  // by the frames
  FlatMap<std::string, std::uint64_t> function_ids_;  // by the three texts
  FlatMap<std::uint64_t, std::uint64_t> frame_functions_;
  FlatMap<std::uint64_t, std::uint64_t> mapping_ids_;  // by the module
  std::vector<WrittenMapping> mappings_;
  std::vector<WrittenFunction> functions_;
  std::vector<WrittenLocation> locations_;
  std::vector<WrittenLine> lines_;
};

}  // namespace nodescope::pprof
