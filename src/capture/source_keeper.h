#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/flat_map.h"
#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// Where the name of a source can be a file: "/app/a.js", "file:///app/a.js".  Others are "node:fs",
// "wasm://…".
std::optional<std::string> path_of_source(std::string_view name);

// The name of the source map that a file asks for in its last lines; nothing if there is none, or if it is
// inside of the file.
std::optional<std::string> name_of_source_map(std::string_view name, std::string_view text);

// Keeps the texts of the JavaScript files that the frames of one profile name, with their source maps.
class SourceKeeper {
 public:
  // The content of a file of at most `limit` bytes.
  using Read = std::function<Result<std::string>(const std::string& path, std::uint64_t limit)>;

  // Looks at the frames that came since the last call.  What could not be kept is told in the diagnostics.
  void keep_new(Profile& profile, const Read& read);

 private:
  using LooksRight = bool (*)(std::string_view name, std::string_view text);

  // Null if it was not kept.
  const std::string* keep(Profile& profile, std::string_view name, const Read& read, LooksRight looks_right);

  std::size_t frames_seen_ = 0;
  FlatSet<std::string> names_;
  std::uint64_t bytes_ = 0;
};

}  // namespace nodescope
