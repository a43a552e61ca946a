#include "source_maps/map_location.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ranges>

#include "base/byte_source.h"
#include "base/text.h"
#include "json/reader.h"
#include "source_maps/source_names.h"

namespace nodescope {

namespace {

constexpr std::string_view kMark = "sourceMappingURL=";
// Where a map is asked for: at the end, as compilers write it.
constexpr std::size_t kMaxBytesBehind = 4096;
constexpr std::size_t kMaxOriginals = 1000;
constexpr std::string_view kBase64 = ";base64,";

bool is_space_or_quote(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\'' || c == '"';
}

// Empty: none.
std::string_view address_of_source_map(std::string_view text) {
  const std::size_t mark = text.rfind(kMark);
  if (mark == std::string_view::npos) return {};
  const std::string_view rest = text.substr(mark + kMark.size());
  const auto length = static_cast<std::size_t>(std::ranges::find_if(rest, is_space_or_quote) - rest.begin());
  return rest.size() - length > kMaxBytesBehind ? std::string_view() : rest.substr(0, length);
}

constexpr std::uint8_t kNoDigit = 0xFF;
constexpr std::array<std::uint8_t, 256> kDigits = [] {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return digits;
}();

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr unsigned kBitsOfDigit = 6;
  constexpr unsigned kBitsOfByte = 8;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t pending = 0;
  unsigned bits = 0;
  for (const char c : text.substr(0, text.find('='))) {
    const std::uint8_t digit = kDigits[static_cast<unsigned char>(c)];
    if (digit == kNoDigit) return std::nullopt;
    pending = (pending << kBitsOfDigit) | digit;
    bits += kBitsOfDigit;
    if (bits < kBitsOfByte) continue;
    bits -= kBitsOfByte;
    bytes += static_cast<char>((pending >> bits) & 0xff);
  }
  return bytes;
}

// "/a/b" of "/a/./x/../b".  More ".." than there are folders end at the root, as in an address.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const auto range : std::views::split(path, '/')) {
    const std::string_view part(range.begin(), range.end());
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string tidy;
  for (const std::string_view part : parts) (tidy += '/') += part;
  return tidy;
}

// "/srv/" of "/srv/a/x" and "/srv/b/y".
std::string_view common_folder(std::string_view a, std::string_view b) {
  const auto end = std::ranges::mismatch(a, b).in1;
  return folder_of_source(a.substr(0, static_cast<std::size_t>(end - a.begin())));
}

// A folder in which projects that have nothing to do with each other lie side by side.
bool is_shared_by_projects(std::string_view folder) {
  constexpr auto kShared = std::to_array<std::string_view>(
      {"/",         "/bin/", "/etc/",     "/home/",      "/lib/",           "/media/",
       "/mnt/",     "/opt/", "/proc/",    "/root/",      "/run/",           "/srv/",
       "/tmp/",     "/usr/", "/usr/lib/", "/usr/local/", "/usr/local/lib/", "/usr/share/",
       "/usr/src/", "/var/", "/var/lib/", "/var/tmp/",   "/var/www/"});
  if (std::ranges::find(kShared, folder) != kShared.end()) return true;
  constexpr std::string_view kHomes = "/home/";
  return folder.starts_with(kHomes) && folder.find('/', kHomes.size()) == folder.size() - 1;
}

bool may_lead_to(std::string_view map, std::string_view original) {
  if (!ends_like_original(original)) return false;
  const std::string_view common = common_folder(map, original);
  const bool is_below = common == folder_of_source(map);
  return (is_below || !is_shared_by_projects(common)) && !original.substr(common.size() - 1).contains("/.");
}

// Where a map at the path `map` finds `source`; nothing if that is no file ("webpack://…").
std::optional<std::string> path_of_original(std::string_view map, const std::string& root,
                                            const std::string& source) {
  std::string address = root.empty() ? source : root + "/" + source;
  const bool is_file = address.starts_with(kFileScheme);
  if (is_file) address.erase(0, kFileScheme.size());
  if (address.contains("://") || address.contains('\0') || (is_file && !address.starts_with('/')))
    return std::nullopt;
  std::string path = decode_path(address).value_or(address);
  if (!path.starts_with('/')) path.insert(0, folder_of_source(map));
  return without_dots(path);
}

// What is needed of one map.
struct Sources {
  std::string root;
  std::vector<std::string> names;
  std::vector<bool> have_text;
};

std::vector<std::string> read_names(json::Reader& json) {
  std::vector<std::string> names;
  auto elements = json.array();
  while (elements.next()) {
    if (names.size() == kMaxOriginals) continue;
    names.emplace_back();
    if (json.peek() == json::Type::kString) names.back() = json.string().value_or("");
  }
  return names;
}

std::vector<bool> read_which_have_text(json::Reader& json) {
  std::vector<bool> have_text;
  auto elements = json.array();
  while (elements.next()) {
    if (have_text.size() < kMaxOriginals) have_text.push_back(json.peek() == json::Type::kString);
  }
  return have_text;
}

// A map that consists of others ("sections") has them one level deep: `inner` is null there.
Sources read_map(json::Reader& json, std::vector<Sources>* inner);

std::vector<Sources> read_sections(json::Reader& json) {
  std::vector<Sources> maps;
  auto sections = json.array();
  while (sections.next()) {
    auto section = json.object();
    while (const auto key = section.next()) {
      if (*key == "map" && maps.size() < kMaxOriginals) maps.push_back(read_map(json, nullptr));
    }
  }
  return maps;
}

Sources read_map(json::Reader& json, std::vector<Sources>* inner) {
  Sources sources;
  auto members = json.object();
  while (const auto key = members.next()) {
    if (*key == "sourceRoot") {
      if (json.peek() == json::Type::kString) sources.root = json.string().value_or("");
    } else if (*key == "sources") {
      sources.names = read_names(json);
    } else if (*key == "sourcesContent") {
      sources.have_text = read_which_have_text(json);
    } else if (*key == "sections" && inner != nullptr) {
      *inner = read_sections(json);
    }
  }
  return sources;
}

}  // namespace

std::optional<std::string> name_of_source_map(std::string_view name, std::string_view text) {
  const std::string_view address = address_of_source_map(text);
  if (address.empty() || address.starts_with("data:") || address.contains("://")) return std::nullopt;
  const auto file = decode_path(address);
  if (!file || !name.contains('/')) return std::nullopt;
  return std::string(folder_of_source(name)) + *file;
}

std::optional<std::string> source_map_inside(std::string_view text) {
  const std::string_view address = address_of_source_map(text);
  if (!address.starts_with("data:application/json")) return std::nullopt;
  const std::size_t comma = address.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view content = address.substr(comma + 1);
  return address.substr(0, comma + 1).ends_with(kBase64) ? decode_base64(content) : decode_path(content);
}

std::string debug_id_of(std::string_view text) {
  constexpr std::string_view kDebugMark = "//# debugId=";
  const std::string_view end = text.substr(text.size() - std::min(text.size(), kMaxBytesBehind));
  const std::size_t mark = end.rfind(kDebugMark);
  if (mark == std::string_view::npos) return {};
  const std::string_view rest = end.substr(mark + kDebugMark.size());
  return std::string(
      rest.substr(0, static_cast<std::size_t>(std::ranges::find_if(rest, is_space_or_quote) - rest.begin())));
}

std::uint32_t added_in_front(std::string_view text) {
  for (const std::string_view added :
       {"require('./sourcemap-register.js');", "require('./sourcemap-register.cjs');",
        "import './sourcemap-register.cjs';"}) {
    if (text.starts_with(added)) return static_cast<std::uint32_t>(added.size());
  }
  return 0;
}

std::string debug_id_of_map(std::string_view map) {
  MemorySource source(map.substr(std::min(map.find('{'), map.size())), "map");
  json::Reader json(source);
  std::string id;
  auto members = json.object();
  while (const auto key = members.next()) {
    if ((*key == "debugId" || *key == "debug_id") && json.peek() == json::Type::kString)
      id = json.string().value_or("");
  }
  return id;
}

std::string_view code_of(std::string_view text) {
  const std::size_t mark = text.rfind(kMark);
  if (mark != std::string_view::npos && text.size() - mark <= kMaxBytesBehind)
    text = text.substr(0, text.rfind('\n', mark) == std::string_view::npos ? 0 : text.rfind('\n', mark));
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::string shown_source(std::string_view name, const std::string& root, const std::string& source) {
  const auto place = path_of_source(name);
  auto path = path_of_original(place ? without_dots(*place) : std::string(name), root, source);
  if (path) return std::move(*path);
  const std::string address = root.empty() ? source : root + "/" + source;
  const std::size_t scheme = address.find("://");
  if (scheme == std::string::npos) return address;
  const std::size_t host = std::min(address.find('/', scheme + 3), address.size());
  return address.substr(0, host) + without_dots(std::string_view(address).substr(host));
}

bool may_be_original(std::string_view name, std::string_view path) {
  const auto place = path_of_source(name);
  return place && path == without_dots(path) && may_lead_to(without_dots(*place), path);
}

std::optional<std::string> file_of_source(std::string_view name, const std::string& root,
                                          const std::string& source) {
  const auto place = path_of_source(name);
  if (!place) return std::nullopt;
  const std::string map = without_dots(*place);
  auto path = path_of_original(map, root, source);
  if (!path || !may_lead_to(map, *path)) return std::nullopt;
  return path;
}

std::vector<std::string> originals_without_text(std::string_view name, std::string_view map) {
  const auto place = path_of_source(name);
  if (!place) return {};
  const std::string path = without_dots(*place);
  MemorySource source(map.substr(std::min(map.find('{'), map.size())), std::string(name));
  json::Reader json(source);
  std::vector<Sources> maps;
  maps.push_back(read_map(json, &maps));
  std::vector<std::string> originals;
  for (const Sources& sources : maps) {
    for (std::size_t i = 0; i < sources.names.size() && originals.size() < kMaxOriginals; ++i) {
      if (sources.names[i].empty() || (i < sources.have_text.size() && sources.have_text[i])) continue;
      auto original = path_of_original(path, sources.root, sources.names[i]);
      if (original && may_lead_to(path, *original)) originals.push_back(std::move(*original));
    }
  }
  return originals;
}

}  // namespace nodescope
