#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace nodescope {

enum class ErrorCode : std::uint8_t {
  kInvalidInput,  // the bytes are not what they claim to be
  kUnsupported,   // understood, but outside of what we read or write
  kNotFound,
  kPermission,
  kSystem,  // the operating system said no; the message has its words
  kLimit,   // a bound that protects memory or time was reached
  kUsage,   // the user asked for something that makes no sense
};

// `message` says what was attempted, what went wrong and, where there is one, the remedy.
struct Error {
  ErrorCode code = ErrorCode::kInvalidInput;
  std::string message;

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected(Error{code, std::move(message)});
}

// Passes an error up with what the caller was doing in front: "reading a.svg: no such file".
inline std::unexpected<Error> fail(Error error, std::string_view context) {
  error.message = std::string(context) + ": " + error.message;
  return std::unexpected(std::move(error));
}

}  // namespace nodescope
