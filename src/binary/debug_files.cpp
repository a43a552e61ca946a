#include "binary/debug_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace nodescope {

namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? value >> 1 ^ 0xEDB88320u : value >> 1;
    table[i] = value;
  }
  return table;
}

// The CRC-32 of .gnu_debuglink, which is that of gzip.
std::uint32_t crc32(std::span<const std::byte> bytes) {
  constexpr auto kTable = make_crc_table();
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const std::byte byte : bytes)
    crc = kTable[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFF] ^ crc >> 8;
  return ~crc;
}

// "ROOT/.build-id/ab/cdef…"
std::string build_id_path(std::string_view root, const BuildId& id) {
  const std::string hex = id.to_hex();
  return fmt::format("{}/.build-id/{}/{}", root, hex.substr(0, 2), hex.substr(2));
}

std::optional<OwnedElf> open_elf(const std::string& path, FileOpener& files) {
  auto source = files.open(path);
  if (!source) return std::nullopt;
  auto elf = OwnedElf::read(std::move(*source));
  if (!elf) return std::nullopt;
  return std::move(*elf);
}

bool belongs_to(const ElfFile& candidate, const ElfFile& binary) {
  if (const auto id = binary.build_id()) return candidate.build_id() == id;
  const auto link = binary.debug_link();
  return link && crc32(candidate.bytes()) == link->crc;
}

// The name comes out of a file that may be hostile: it must stay in the folders where we look.
bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && !name.contains('/');
}

}  // namespace

std::vector<std::string> debug_file_paths(const ElfFile& binary, std::string_view path,
                                          const DebugFileSearch& search) {
  std::vector<std::string> paths;
  if (const auto id = binary.build_id()) {
    paths.push_back(build_id_path(search.debug_root, *id) + ".debug");
    if (!search.perf_cache.empty()) {
      paths.push_back(perf_cache_path(*id, "debug", search));
      paths.push_back(perf_cache_path(*id, "elf", search));
    }
  }
  const std::string_view folder = path.substr(0, std::min(path.rfind('/'), path.size()));
  if (const auto link = binary.debug_link(); link && is_plain_file_name(link->file_name)) {
    paths.push_back(fmt::format("{}/{}", folder, link->file_name));
    paths.push_back(fmt::format("{}/.debug/{}", folder, link->file_name));
    paths.push_back(fmt::format("{}{}/{}", search.debug_root, folder, link->file_name));
  }
  std::erase(paths, path);
  return paths;
}

std::vector<std::string> binary_paths(const BuildId& id, const DebugFileSearch& search) {
  std::vector<std::string> paths;
  if (!search.perf_cache.empty()) {
    paths.push_back(perf_cache_path(id, "elf", search));
    // Before Linux 4.12 the folder was a link to the file.
    paths.push_back(build_id_path(search.perf_cache, id));
  }
  // Fedora links binaries there too, next to their debug files.
  paths.push_back(build_id_path(search.debug_root, id));
  return paths;
}

std::string perf_cache_path(const BuildId& id, std::string_view kind, const DebugFileSearch& search) {
  return fmt::format("{}/{}", build_id_path(search.perf_cache, id), kind);
}

std::optional<OwnedElf> find_debug_file(const ElfFile& binary, std::string_view path,
                                        const DebugFileSearch& search, FileOpener& files) {
  for (const std::string& candidate : debug_file_paths(binary, path, search)) {
    auto elf = open_elf(candidate, files);
    if (elf && !elf->file().symtab().empty() && belongs_to(elf->file(), binary)) return elf;
  }
  return std::nullopt;
}

std::optional<OwnedElf> find_binary(const BuildId& id, const DebugFileSearch& search, FileOpener& files) {
  for (const std::string& candidate : binary_paths(id, search)) {
    auto elf = open_elf(candidate, files);
    if (elf && elf->file().build_id() == id) return elf;
  }
  return std::nullopt;
}

}  // namespace nodescope
