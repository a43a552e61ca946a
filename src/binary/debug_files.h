#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "binary/build_id.h"
#include "binary/elf_file.h"

namespace nodescope {

struct DebugFileSearch {
  std::string debug_root = "/usr/lib/debug";
  // perf's cache of binaries, ~/.debug of the user who records; empty: not looked at.
  std::string perf_cache;
};

// The separate debug file of `binary`, which lies at `path`: it has a .symtab, and its build id is that of
// the binary or, where the binary has none, its CRC is that of .gnu_debuglink.
std::optional<OwnedElf> find_debug_file(const ElfFile& binary, std::string_view path,
                                        const DebugFileSearch& search, FileOpener& files);

// A binary by its build id alone, for a recording from another machine or of a binary since replaced: perf's
// cache.
std::optional<OwnedElf> find_binary(const BuildId& id, const DebugFileSearch& search, FileOpener& files);

// Where they look, in this order.
std::vector<std::string> debug_file_paths(const ElfFile& binary, std::string_view path,
                                          const DebugFileSearch& search);
std::vector<std::string> binary_paths(const BuildId& id, const DebugFileSearch& search);

// Where perf keeps what has no file: `kind` is "kallsyms" or "vdso".
std::string perf_cache_path(const BuildId& id, std::string_view kind, const DebugFileSearch& search);

}  // namespace nodescope
