#include "app/server/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace nodescope::server {

namespace {

constexpr std::string_view kRecordings = "recordings";
constexpr std::size_t kMaxIndexDigits = 6;

constexpr Refusal kNotFound{404, "There is nothing here."};
constexpr Refusal kForeignHost{403, "This address is not the one that nodescope serves."};
constexpr Refusal kForeignOrigin{403, "Another site asked for this."};
constexpr Refusal kWrongToken{403,
                              "Use the address that nodescope has printed: it is secret and new each time."};
constexpr Refusal kWrongMethod{405, "Only GET and HEAD."};
constexpr Refusal kHasBody{413, "No request here has a body."};
constexpr Refusal kMalformed{400, "This request is not understood."};

// In a time that does not tell how much of it was right.
bool is_secret(std::string_view given, std::string_view secret) {
  if (secret.empty() || given.size() != secret.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < secret.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(secret[i]);
  return difference == 0;
}

// A page of another site whose name was made to point to this machine has that name in Host.
bool is_own_host(std::string_view host, std::uint16_t port) {
  return host == fmt::format("127.0.0.1:{}", port) || host == fmt::format("localhost:{}", port);
}

bool is_own_origin(std::string_view origin, std::uint16_t port) {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && is_own_host(origin.substr(kScheme.size()), port);
}

std::optional<std::size_t> parse_index(std::string_view text) {
  if (text.size() > kMaxIndexDigits || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return parse_number<std::size_t>(text);
}

// The value of `key`, which begins with it.
std::optional<std::string> file_name(std::string_view parameter, std::string_view key) {
  if (!parameter.starts_with(key)) return std::nullopt;
  auto name = decode_query_value(parameter.substr(key.size()));
  if (!name || name->empty() || name->contains('\0')) return std::nullopt;
  return name;
}

// "path=FILE" or "path=FILE&of=FILE".
std::expected<Route, Refusal> route_source(std::string_view query) {
  const std::size_t mark = std::min(query.find('&'), query.size());
  auto path = file_name(query.substr(0, mark), "path=");
  if (!path) return std::unexpected(kMalformed);
  if (mark == query.size()) return Route{Resource::kSource, 0, std::move(*path), {}};
  auto generated = file_name(query.substr(mark + 1), "of=");
  if (!generated || query.find('&', mark + 1) != std::string_view::npos) return std::unexpected(kMalformed);
  return Route{Resource::kSource, 0, std::move(*path), std::move(*generated)};
}

// What follows "/TOKEN/".
std::expected<Route, Refusal> route_below(std::string_view rest) {
  const std::size_t mark = std::min(rest.find('?'), rest.size());
  const std::string_view path = rest.substr(0, mark);
  const bool has_query = mark < rest.size();
  if (path.empty()) return Route{.resource = Resource::kPage, .path = {}, .generated = {}};
  if (path == "source" && has_query) return route_source(rest.substr(mark + 1));
  if (path == "heap" && has_query) {
    return Route{.resource = Resource::kHeapAnswer,
                 .path = {},
                 .generated = {},
                 .question = std::string(rest.substr(mark + 1))};
  }
  if (has_query || !path.starts_with(kRecordings)) return std::unexpected(kNotFound);
  if (path == kRecordings) return Route{.resource = Resource::kRecordingList, .path = {}, .generated = {}};
  if (path[kRecordings.size()] != '/') return std::unexpected(kNotFound);
  const auto index = parse_index(path.substr(kRecordings.size() + 1));
  if (!index) return std::unexpected(kNotFound);
  return Route{Resource::kRecording, *index, {}, {}};
}

}  // namespace

std::expected<Route, Refusal> route(const RequestHead& request, const Gate& gate) {
  if (!request.host || !is_own_host(*request.host, gate.port)) return std::unexpected(kForeignHost);
  if (request.origin && !is_own_origin(*request.origin, gate.port)) return std::unexpected(kForeignOrigin);
  if (!request.target.starts_with('/')) return std::unexpected(kMalformed);
  const std::string_view target = request.target.substr(1);
  const std::size_t end = std::min(target.find_first_of("/?"), target.size());
  const std::string_view given = target.substr(0, end);
  const std::string_view rest = target.substr(end);
  const bool is_opening = request.method == "GET" && rest == "/" && is_secret(given, gate.opening_key);
  if (!is_opening && !is_secret(given, gate.token)) return std::unexpected(kWrongToken);
  if (request.has_body) return std::unexpected(kHasBody);
  if (request.method != "GET" && request.method != "HEAD") return std::unexpected(kWrongMethod);
  if (is_opening) return Route{.resource = Resource::kOpening, .path = {}, .generated = {}};
  if (rest.empty()) return Route{.resource = Resource::kPageWithoutSlash, .path = {}, .generated = {}};
  if (!rest.starts_with('/')) return std::unexpected(kNotFound);
  return route_below(rest.substr(1));
}

}  // namespace nodescope::server
