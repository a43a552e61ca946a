#include <cstdint>
#include <string_view>

#include "app/server/request.h"
#include "base/check.h"

// Lines: method, target, Host, Origin.  A missing line is a missing header; anything in a fifth is a body.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope::server;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto next_line = [&]() -> std::optional<std::string_view> {
    if (rest.empty()) return std::nullopt;
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
  };
  RequestHead request;
  request.method = next_line().value_or("");
  request.target = next_line().value_or("");
  request.host = next_line();
  request.origin = next_line();
  request.has_body = !rest.empty();
  const Gate gate{"0123456789abcdef", "fedcba9876543210", 4000};
  const auto route = nodescope::server::route(request, gate);
  if (!route) {
    NODESCOPE_CHECK(route.error().status >= 400 && route.error().status < 500);
    return 0;
  }
  // Whoever gets anything knew a secret, came from here and sent nothing.
  NODESCOPE_CHECK(!request.has_body && (request.method == "GET" || request.method == "HEAD"));
  NODESCOPE_CHECK(request.host == "127.0.0.1:4000" || request.host == "localhost:4000");
  NODESCOPE_CHECK(!request.origin || *request.origin == "http://127.0.0.1:4000" ||
                  *request.origin == "http://localhost:4000");
  const bool has_key = request.target == "/fedcba9876543210/";
  NODESCOPE_CHECK(request.target.starts_with("/0123456789abcdef") ||
                  (has_key && route->resource == Resource::kOpening));
  NODESCOPE_CHECK(!route->path.contains('\0') &&
                  (route->resource == Resource::kSource) == !route->path.empty());
  return 0;
}
