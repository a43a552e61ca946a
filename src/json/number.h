#pragma once

#include <cstdint>
#include <limits>

namespace nodescope::json {

// A number as it was written: (-)digits * 10^exponent.  At least nineteen digits are kept, so a time in
// nanoseconds stays exact, whether it was written as an integer, as a decimal fraction or with an exponent.
struct Number {
  std::uint64_t digits = 0;
  std::int32_t exponent = 0;
  bool negative = false;

  // The nearest integer to number * 10^decimals; what is beyond 64 bits becomes the end of their range.
  std::int64_t scaled(int decimals) const {
    // Integers up to a million seconds in microseconds take the short way.
    constexpr std::uint64_t kShort = 1'000'000'000'000;
    constexpr std::int64_t kPowers[] = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000};
    if (exponent != 0 || digits > kShort || decimals < 0 || decimals > 6) return scaled_slowly(decimals);
    const std::int64_t size = static_cast<std::int64_t>(digits) * kPowers[decimals];
    return negative ? -size : size;
  }
  // The same, with what is below zero as zero: for sizes and counts.
  std::uint64_t as_count(int decimals = 0) const;

  std::int64_t rounded() const {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    if (exponent != 0 || digits > kMax) return scaled(0);
    return negative ? -static_cast<std::int64_t>(digits) : static_cast<std::int64_t>(digits);
  }

  std::int64_t scaled_slowly(int decimals) const;

  bool operator==(const Number&) const = default;
};

}  // namespace nodescope::json
