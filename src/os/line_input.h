#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope {

// Lines of standard input: typed on a terminal, with history and completion, or from a pipe or a file.
class LineInput {
 public:
  // What the last word of `line` may become.
  using Complete = std::function<std::vector<std::string>(std::string_view line)>;

  LineInput(std::string prompt, Complete complete)
      : prompt_(std::move(prompt)), complete_(std::move(complete)) {}

  // Without its end; nothing at the end of the input.  Longer lines than EditedLine::kMaxBytes are cut.
  std::optional<std::string> read();

 private:
  std::optional<std::string> read_typed();
  std::optional<std::string> read_plain();

  std::string prompt_;
  Complete complete_;
  std::vector<std::string> history_;
};

}  // namespace nodescope
