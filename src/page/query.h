#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace nodescope::page {

// A question as the page asks it: "view=flame&from=1000&search=a%2Bb", written as URLSearchParams does.
class Query {
 public:
  // Fails with kUsage on a text that is too long or has too many parts.  Escapes that make no sense stand for
  // themselves.
  static Result<Query> parse(std::string_view text);

  std::optional<std::string_view> find(std::string_view key) const;
  std::string_view text(std::string_view key) const { return find(key).value_or(""); }
  std::vector<std::string> all(std::string_view key) const;
  bool flag(std::string_view key) const { return text(key) == "1"; }

  // Fail with kUsage on anything that is not a number from `least` to `most`; `otherwise` where the key is
  // missing or empty.
  Result<double> number(std::string_view key, double otherwise, double least, double most) const;
  Result<std::uint32_t> integer(std::string_view key, std::uint32_t otherwise, std::uint32_t most) const;
  // "3,5,9".
  Result<std::vector<std::uint32_t>> integers(std::string_view key, std::uint32_t most) const;

  // The part whose keys begin with `prefix`, without it.
  Query below(std::string_view prefix) const;
  bool empty() const { return parts_.empty(); }

 private:
  std::vector<std::pair<std::string, std::string>> parts_;
};

}  // namespace nodescope::page
