#include "app/source_map_folder.h"

#include <algorithm>
#include <cstdint>

#include "base/path.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "source_maps/map_location.h"

namespace nodescope {

namespace {

constexpr std::size_t kMaxFiles = 100'000;
constexpr std::uint64_t kMaxMapBytes = 256u << 20;
constexpr std::uint64_t kMaxTextBytes = 64u << 20;
constexpr std::string_view kMapEnding = ".map";

std::string_view generated_path(std::string_view map) {
  return map.substr(0, map.size() - kMapEnding.size());
}

std::optional<FoundMap> read_map(const std::string& path) {
  auto text = read_regular_file(path, kMaxMapBytes);
  if (!text) return std::nullopt;
  FoundMap found{std::move(*text), path};
  if (auto generated = read_regular_file(std::string(generated_path(path)), kMaxTextBytes))
    found.generated = std::move(*generated);
  return found;
}

}  // namespace

Result<SourceMapFolder> SourceMapFolder::open(const std::string& path) {
  const auto files = list_files_below(path, kMaxFiles);
  if (!files) return std::unexpected(files.error());
  SourceMapFolder folder;
  for (const std::string& file : *files) {
    if (!file.ends_with(kMapEnding)) continue;
    folder.by_file_name_.emplace(file_name_of(generated_path(file)), file);
    const auto text = read_regular_file(file, kMaxMapBytes);
    const std::string id = text ? debug_id_of_map(*text) : std::string();
    if (!id.empty()) folder.by_debug_id_.emplace(id, file);
  }
  return folder;
}

std::optional<FoundMap> SourceMapFolder::find(const std::string& file, const std::string* text) const {
  const std::string id = text != nullptr ? debug_id_of(*text) : std::string();
  const auto known = by_debug_id_.find(id);
  if (known != by_debug_id_.end()) return read_map(known->second);
  return find_by_name(file_name_of(file), text);
}

std::optional<FoundMap> SourceMapFolder::find_by_name(std::string_view name, const std::string* text) const {
  const auto [begin, end] = by_file_name_.equal_range(name);
  if (text == nullptr && std::distance(begin, end) != 1) return std::nullopt;
  for (auto candidate = begin; candidate != end; ++candidate) {
    auto found = read_map(candidate->second);
    if (!found) continue;
    // A map without its file counts if there is no other; it still has to fit.
    const bool is_only = std::distance(begin, end) == 1;
    const bool is_same = text != nullptr && found->generated && code_of(*found->generated) == code_of(*text);
    if (is_same || (is_only && (text == nullptr || !found->generated))) return found;
  }
  return std::nullopt;
}

}  // namespace nodescope
