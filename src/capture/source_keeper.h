#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/flat_map.h"
#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

struct SourceFile {
  std::string text;
  std::string real_path;  // where links led
};

// Keeps the texts of the JavaScript files that the frames of one profile name, with their source maps and
// what these were made from.
class SourceKeeper {
 public:
  // A file of at most `limit` bytes, as whoever names it may read it.
  using Read = std::function<Result<SourceFile>(const std::string& path, std::uint64_t limit)>;

  // Looks at the frames that came since the last call.  What could not be kept is told in the diagnostics.
  void keep_new(Profile& profile, const Read& read);
  // The file of this name, which process `pid` has named.  What one process may not read another may.
  void keep_named(Profile& profile, StringId file, std::int32_t pid, const Read& read);

 private:
  struct Rule {
    bool (*looks_right)(std::string_view real_path, std::string_view text);
    std::string_view otherwise;  // what the diagnostics call it if it was not kept
  };

  // Null if it was not kept, or was before.
  const std::string* keep(Profile& profile, std::string_view name, const Read& read, const Rule& rule);
  void keep_with_originals(Profile& profile, StringId file, const Read& read);
  // Those of the file `name`, and their map.
  void keep_originals(Profile& profile, const std::string& name, const std::string& text, const Read& read);

  std::size_t frames_seen_ = 0;
  FlatSet<std::string> kept_;
  FlatSet<std::string> tried_;  // with who asked for it
  std::int32_t asker_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace nodescope
