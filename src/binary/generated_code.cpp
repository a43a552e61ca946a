#include "binary/generated_code.h"

#include <array>
#include <cstdint>

#include "base/path.h"
#include "base/text.h"

namespace nodescope {

bool is_generated_code_path(std::string_view path) {
  constexpr std::array<std::string_view, 8> kPrefixes = {"//anon",  "[anon", "/dev/zero", "/anon_hugepage",
                                                         "/memfd:", "[heap", "[stack",    "/SYSV"};
  for (const std::string_view prefix : kPrefixes) {
    if (path.starts_with(prefix)) return true;
  }
  return path.empty();
}

bool is_jitdump_path(std::string_view path) {
  std::string_view name = file_name_of(path);
  if (!name.starts_with("jit-") || !name.ends_with(".dump")) return false;
  name.remove_prefix(4);
  name.remove_suffix(5);
  return parse_number<std::uint32_t>(name).has_value();
}

}  // namespace nodescope
