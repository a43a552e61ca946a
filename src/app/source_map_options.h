#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "model/profile.h"

namespace CLI {
class App;
}

namespace nodescope {

// Which source maps are applied, as typed.
struct SourceMapOptions {
  bool off = false;
  std::string folder;          // empty: none
  bool keeps_texts = false;    // for a page that shows them
  bool is_for_server = false;  // root reads as the user whom it becomes before it serves

  bool operator==(const SourceMapOptions&) const = default;
};

// --no-source-maps and --source-maps DIR.
void add_source_map_options(CLI::App& command, SourceMapOptions& options);

// Leads the frames of `profile` to their sources, by maps in it, on this disk and in the folder.  Files of a
// container are not looked for on this disk: what has their name here is another file.
Result<void> map_to_sources(Profile& profile, const SourceMapOptions& options);

// The same with files that `read` gives instead of this disk.
using ReadNamedFile = std::function<Result<std::string>(const std::string& name, std::uint64_t limit)>;
Result<void> map_to_sources(Profile& profile, const SourceMapOptions& options, ReadNamedFile read);

}  // namespace nodescope
