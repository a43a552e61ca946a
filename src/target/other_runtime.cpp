#include "target/other_runtime.h"

namespace nodescope {

std::optional<std::string> describe_other_runtime(std::string_view executable) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (executable.ends_with(kDeleted)) executable.remove_suffix(kDeleted.size());
  const std::string_view name = executable.substr(executable.rfind('/') + 1);
  if (name == "bun" || name == "bunx" || name == "bun-profile")
    return "Bun, whose engine is JavaScriptCore and not V8: only its native frames can be seen";
  if (name == "deno") {
    return "Deno, whose V8 comes without the metadata that Node.js has: only its native frames can be seen "
           "from outside; "
           "'record --engine inspector' shows its JavaScript if it was started with --inspect";
  }
  return std::nullopt;
}

}  // namespace nodescope
