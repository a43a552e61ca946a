#include "os/file_tree.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace nodescope {

Result<std::vector<std::string>> list_files_below(const std::string& folder, std::size_t limit) {
  constexpr int kMaxDepth = 32;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(
      folder, std::filesystem::directory_options::skip_permission_denied, error);
  if (error) return fail(ErrorCode::kNotFound, "reading the folder " + folder + ": " + error.message());
  std::vector<std::string> files;
  const std::filesystem::recursive_directory_iterator end;
  for (std::size_t seen = 0; entry != end && seen < limit; ++seen) {
    std::error_code unknown;
    if (entry->symlink_status(unknown).type() == std::filesystem::file_type::regular)
      files.push_back(entry->path().string());
    if (entry.depth() >= kMaxDepth) entry.disable_recursion_pending();
    entry.increment(error);
    if (error) break;
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace nodescope
