#include "app/output.h"

#include <fmt/format.h>

#include "os/output_file.h"
#include "os/terminal.h"

namespace nodescope {

Result<void> write_output(const std::string& path, const std::function<Result<void>(ByteSink&)>& write) {
  if (path == "-") {
    StandardOutput output;
    return write(output);
  }
  auto file = OutputFile::create(path);
  if (!file) return std::unexpected(file.error());
  if (auto written = write(**file); !written) return written;
  return (*file)->commit();
}

std::string binary_output_path(const std::string& path, const std::string& fallback) {
  if (path != "-" || !standard_output_is_terminal()) return path;
  fmt::print(stderr, "nodescope: writing {}\n", fallback);
  return fallback;
}

}  // namespace nodescope
