#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope::v8_log {

// The fields of a line of V8's log.  Commas in texts are escaped ("\x2C"); before V8 6.6 texts stood in
// quotes.
class LogLine {
 public:
  // Valid as long as `line` is.
  void parse(std::string_view line);

  std::size_t size() const { return fields_.size(); }
  // Empty beyond the last.
  std::string_view operator[](std::size_t i) const {
    return i < fields_.size() ? fields_[i] : std::string_view();
  }
  // With its escapes undone.
  std::string text(std::size_t i) const;
  // "0x7f00", "128".
  std::optional<std::uint64_t> number(std::size_t i) const;

 private:
  std::vector<std::string_view> fields_;
};

std::optional<std::uint64_t> parse_log_number(std::string_view text);

}  // namespace nodescope::v8_log
