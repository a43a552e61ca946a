#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "json/writer.h"
#include "model/profile.h"

namespace nodescope {

// Indices into the category list of the file, in its order.
enum class FirefoxCategory : std::uint8_t {
  kOther,
  kIdle,
  kJs,
  kNative,
  kKernel,
  kBuiltin,
  kGc,
  kRegExp,
  kWasm
};

void write_firefox_categories(json::Writer& writer);

// The tables that all threads share: strings, libraries, sources, functions, frames and stacks.
class FirefoxTables {
 public:
  explicit FirefoxTables(const Profile& profile);

  // The number of `text` in the table of strings.
  std::uint32_t string_of(StringId text);

  void write_libraries(json::Writer& writer) const;
  // Last, after every use of string_of().
  void write_shared(json::Writer& writer);

 private:
  void write_stacks(json::Writer& writer) const;
  void write_frames(json::Writer& writer) const;
  void write_functions(json::Writer& writer);
  void write_resources(json::Writer& writer);
  void write_sources(json::Writer& writer);
  void write_strings(json::Writer& writer) const;

  const Profile& profile_;
  FrameTable functions_;  // frames without what differs within a function
  std::vector<FrameId> function_of_frame_;
  std::vector<StringId> modules_;  // a library and a resource each
  FlatMap<std::uint64_t, std::uint32_t> module_indices_;
  std::vector<StringId> files_;  // a source each
  FlatMap<std::uint64_t, std::uint32_t> file_indices_;
  std::vector<StringId> strings_;
  FlatMap<std::uint64_t, std::uint32_t> string_indices_;
};

}  // namespace nodescope
