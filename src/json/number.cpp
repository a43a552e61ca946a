#include "json/number.h"

namespace nodescope::json {

namespace {

constexpr std::int64_t kMaxPower = 19;  // 10^20 is beyond 64 bits
constexpr std::uint64_t kMaxCount = std::numeric_limits<std::uint64_t>::max();

std::uint64_t power_of_ten(std::int64_t exponent) {
  std::uint64_t power = 1;
  for (std::int64_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

std::uint64_t shift_decimally(std::uint64_t digits, std::int64_t power) {
  if (digits == 0 || power == 0) return digits;
  if (power > kMaxPower) return kMaxCount;
  if (power < -kMaxPower) return 0;
  if (power > 0) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(digits, power_of_ten(power), &product) ? kMaxCount : product;
  }
  const std::uint64_t divisor = power_of_ten(-power);
  const std::uint64_t rest = digits % divisor;
  return digits / divisor + (rest >= divisor - rest ? 1 : 0);
}

}  // namespace

std::int64_t Number::scaled_slowly(int decimals) const {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t size = shift_decimally(digits, std::int64_t{exponent} + decimals);
  if (size > kMax) {
    return negative ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
  return negative ? -static_cast<std::int64_t>(size) : static_cast<std::int64_t>(size);
}

std::uint64_t Number::as_count(int decimals) const {
  return negative ? 0 : shift_decimally(digits, std::int64_t{exponent} + decimals);
}

}  // namespace nodescope::json
