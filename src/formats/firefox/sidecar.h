#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/flat_map.h"
#include "formats/format.h"

namespace nodescope::firefox {

// The symbols that samply puts beside a profile ("profile.syms.json" for "profile.json.gz"), by library and
// by the address in it.
class Sidecar {
 public:
  // None where there is no such file; damage is a diagnostic.
  static Sidecar find(std::string_view profile_path, const ReadOptions& options, Diagnostics& diagnostics);

  // Reads the file's content.
  void read(ByteSource& source, Diagnostics& diagnostics);

  // Nothing if the library or the address is not known.  `debug_id` and `code_id` as the profile has them.
  std::optional<std::string_view> symbol(std::string_view debug_id, std::string_view code_id,
                                         std::uint64_t address) const;

 private:
  struct Symbols {
    std::string debug_id;
    std::string code_id;
    FlatMap<std::uint64_t, std::uint32_t> texts;  // by address
  };

  std::vector<std::string> texts_;
  std::vector<Symbols> libraries_;
};

// "profile.json.gz" -> "profile.syms.json"
std::string sidecar_path(std::string_view profile_path);

}  // namespace nodescope::firefox
