#include "app/output.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/note.h"
#include "base/text.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

// Standard output where it is a terminal: names inside of a profile are text of others, and a terminal would
// act on what is in them.
class TerminalSink final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      line_ += bytes.substr(0, end);
      if (end == std::string_view::npos) return {};
      bytes.remove_prefix(end + 1);
      if (auto written = finish("\n"); !written) return written;
    }
    return {};
  }

  Result<void> finish(std::string_view line_end = {}) {
    std::string text;
    for (std::string_view rest = line_; !rest.empty();) {
      const std::size_t tab = std::min(rest.find('\t'), rest.size());
      text += printable(rest.substr(0, tab));
      if (tab < rest.size()) text += '\t';
      rest.remove_prefix(std::min(tab + 1, rest.size()));
    }
    line_.clear();
    return output_.write(text.append(line_end));
  }

 private:
  StandardOutput output_;
  std::string line_;
};

}  // namespace

Result<void> write_output(const std::string& path, const std::function<Result<void>(ByteSink&)>& write,
                          Readers readers) {
  if (path == "-" && standard_output_is_terminal()) {
    TerminalSink output;
    if (auto written = write(output); !written) return written;
    return output.finish();
  }
  if (path == "-") {
    StandardOutput output;
    return write(output);
  }
  auto file = OutputFile::create(path, readers);
  if (!file) return std::unexpected(file.error());
  if (auto written = write(**file); !written) return written;
  return (*file)->commit();
}

std::string binary_output_path(const std::string& path, const std::string& fallback) {
  if (path != "-" || !standard_output_is_terminal()) return path;
  note("nodescope: writing {}\n", fallback);
  return fallback;
}

std::string with_suffix(const std::string& path, const std::string& suffix) {
  const std::size_t name = path.find_last_of('/') + 1;
  const std::size_t dot = path.find('.', name);
  const std::size_t at = dot == std::string::npos || dot == name ? path.size() : dot;
  return path.substr(0, at) + "-" + suffix + path.substr(at);
}

}  // namespace nodescope
