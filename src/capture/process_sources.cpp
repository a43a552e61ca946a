#include "capture/process_sources.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "target/live_process.h"

namespace nodescope {

namespace {

// Each has a process of its own that reads for it.
constexpr std::size_t kMaxKept = 16;

}  // namespace

Result<ForeignFiles*> ProcessSources::files_of(pid_t pid) {
  auto opened = ForeignFiles::open(pid);
  const auto last = last_rights_.find(pid);
  // A process that has ended leaves its folders to those who have opened them.
  if (!opened && last == last_rights_.end()) return std::unexpected(opened.error());
  const FileRights rights = opened ? opened->rights() : last->second;
  auto known = std::ranges::find(files_, rights, &ForeignFiles::rights);
  if (known == files_.end()) {
    if (!opened) return std::unexpected(opened.error());
    if (files_.size() >= kMaxKept) files_.pop_front();
    files_.emplace_back(std::move(*opened));
    known = std::prev(files_.end());
  }
  last_rights_.insert_or_assign(pid, rights);
  return &*known;
}

bool ProcessSources::differs_elsewhere(const ForeignFiles& own, const std::vector<pid_t>& others,
                                       const std::string& path, std::uint64_t limit,
                                       const std::string& text) {
  // A copy, because files_of() may let go of `own`.
  const FileRights rights = own.rights();  // NOLINT(performance-unnecessary-copy-initialization)
  std::vector<FileRights> seen;
  for (const pid_t pid : others) {
    const auto files = files_of(pid);
    if (!files || (*files)->rights().has_same_files(rights)) continue;
    const FileRights theirs = (*files)->rights();
    if (std::ranges::find(seen, theirs) != seen.end() || seen.size() >= kMaxKept) continue;
    seen.push_back(theirs);
    const auto content = (*files)->read(path, limit);
    if (content && content->text != text) return true;
  }
  return false;
}

Result<SourceFile> ProcessSources::read(pid_t namer, const std::vector<pid_t>& others,
                                        const std::string& path, std::uint64_t limit,
                                        Diagnostics& diagnostics) {
  const auto files = files_of(namer);
  if (!files) return std::unexpected(files.error());
  auto content = (*files)->read(path, limit);
  if (!content) return std::unexpected(content.error());
  if (differs_elsewhere(**files, others, path, limit, content->text))
    return fail(ErrorCode::kUnsupported, path + ": different in two containers");
  const auto started = start_of_process(namer);
  if (started && content->modified_ns > *started) {
    diagnostics.warn(
        "source files that were changed after their process began: lines may be those of another text", path);
  }
  return SourceFile{std::move(content->text), std::move(content->real_path)};
}

}  // namespace nodescope
