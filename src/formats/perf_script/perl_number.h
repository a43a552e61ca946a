#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>

#include "base/text.h"

namespace nodescope {

// Perl's numbers: whole ones as long as they fit in 64 bits, floating ones from then on.
class PerlNumber {
 public:
  PerlNumber() = default;
  explicit PerlNumber(std::string_view digits) {
    const auto whole = parse_number<std::uint64_t>(digits);
    whole_ = whole.value_or(0);
    if (!whole) floating_ = std::strtod(std::string(digits).c_str(), nullptr);
  }
  explicit PerlNumber(std::uint64_t whole) : whole_(whole) {}

  PerlNumber& operator+=(const PerlNumber& other) {
    std::uint64_t sum;
    if (floating_ == 0 && other.floating_ == 0 && !__builtin_add_overflow(whole_, other.whole_, &sum)) {
      whole_ = sum;
      return *this;
    }
    floating_ = value() + other.value();
    whole_ = 0;
    return *this;
  }

  void append_to(std::string& text) const {
    if (floating_ == 0) {
      fmt::format_to(std::back_inserter(text), "{}", whole_);
    } else if (floating_ > std::numeric_limits<double>::max()) {
      text += "Inf";
    } else {
      fmt::format_to(std::back_inserter(text), "{:.15g}", floating_);
    }
  }

 private:
  double value() const { return floating_ == 0 ? static_cast<double>(whole_) : floating_; }

  std::uint64_t whole_ = 0;
  double floating_ = 0;  // 0: the number is whole_
};

}  // namespace nodescope
