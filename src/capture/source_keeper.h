#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/flat_map.h"
#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// Keeps the texts of the JavaScript files that the frames of one profile name, with their source maps and
// what these were made from.
class SourceKeeper {
 public:
  // The content of a file of at most `limit` bytes.
  using Read = std::function<Result<std::string>(const std::string& path, std::uint64_t limit)>;

  // Looks at the frames that came since the last call.  What could not be kept is told in the diagnostics.
  void keep_new(Profile& profile, const Read& read);

 private:
  struct Rule {
    bool (*looks_right)(std::string_view name, std::string_view text);
    std::string_view otherwise;  // what the diagnostics call it if it was not kept
  };

  // Null if it was not kept, or was before.
  const std::string* keep(Profile& profile, std::string_view name, const Read& read, const Rule& rule);
  // Those of the file `name`, and their map.
  void keep_originals(Profile& profile, const std::string& name, const std::string& text, const Read& read);

  std::size_t frames_seen_ = 0;
  FlatSet<std::string> names_;
  std::uint64_t bytes_ = 0;
};

}  // namespace nodescope
