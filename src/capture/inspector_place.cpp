#include "capture/inspector_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

#include "base/text.h"

namespace nodescope {

namespace {

bool is_target_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

std::string_view without_brackets(std::string_view host) {
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

// "9300", "0.0.0.0:9300", "[::1]:9300", "localhost": what is not said stays.
void apply(std::string_view value, InspectorPlace& place) {
  if (const auto port = parse_number<std::uint16_t>(value)) {
    place.port = *port;
    return;
  }
  const std::size_t colon = value.ends_with(']') ? std::string_view::npos : value.rfind(':');
  if (colon != std::string_view::npos) {
    const auto port = parse_number<std::uint16_t>(value.substr(colon + 1));
    if (!port) return;
    place.port = *port;
  }
  const std::string_view host = without_brackets(value.substr(0, colon));
  if (!host.empty()) place.host = host;
}

// Takes the options of Node.js one after the other; the value of two of them may be an argument of its own.
class PlaceOptions {
 public:
  void take(std::string_view option) {
    constexpr std::array<std::string_view, 5> kNames = {"--inspect-port", "--debug-port", "--inspect-brk",
                                                        "--inspect-wait", "--inspect"};
    if (std::exchange(value_follows_, false)) return apply(option, place_);
    for (const std::string_view name : kNames) {
      if (!option.starts_with(name)) continue;
      const std::string_view rest = option.substr(name.size());
      if (rest.starts_with('=')) return apply(rest.substr(1), place_);
      if (rest.empty()) value_follows_ = name.ends_with("port");
    }
  }
  InspectorPlace& place() { return place_; }

 private:
  InspectorPlace place_;
  bool value_follows_ = false;
};

template <typename Use>
void for_each_piece(std::string_view text, char separator, Use&& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string host_with_port(const InspectorAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", address.host, is_v6 ? "]" : "", address.port);
}

Result<InspectorAddress> parse_inspector_url(std::string_view url) {
  constexpr std::string_view kScheme = "ws://";
  const auto wrong = [&] {
    return fail(
        ErrorCode::kUsage,
        fmt::format("{}: the address of an inspector looks like ws://127.0.0.1:9229/ID", printable(url)));
  };
  if (!url.starts_with(kScheme)) return wrong();
  url.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(url.find('/'), url.size());
  const std::string_view place = url.substr(0, slash);
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  const auto port = parse_number<std::uint16_t>(place.substr(colon + 1));
  const std::string_view host = without_brackets(place.substr(0, colon));
  const std::string_view id = url.substr(std::min(slash + 1, url.size()));
  if (!port || host.empty() || (!id.empty() && !is_target_id(id))) return wrong();
  return InspectorAddress{std::string(host), *port, id.empty() ? std::string() : "/" + std::string(id)};
}

std::optional<std::string> parse_target_path(std::string_view answer) {
  boost::system::error_code error;
  const auto parsed = boost::json::parse(answer, error);
  if (error || !parsed.is_array() || parsed.get_array().empty()) return std::nullopt;
  const auto* target = parsed.get_array().front().if_object();
  const auto* id = target != nullptr ? target->if_contains("id") : nullptr;
  const auto* url = target != nullptr ? target->if_contains("type") : nullptr;
  if (id == nullptr || !id->is_string() || url == nullptr || *url != "node") return std::nullopt;
  const std::string_view text = id->get_string();
  return is_target_id(text) ? std::optional("/" + std::string(text)) : std::nullopt;
}

bool InspectorPlace::is_loopback() const {
  return host.starts_with("127.") || host == "::1" || host == "localhost";
}

InspectorPlace inspector_place_of(std::string_view command_line, std::string_view environment) {
  constexpr std::string_view kVariable = "NODE_OPTIONS=";
  PlaceOptions options;
  for_each_piece(environment, '\0', [&](std::string_view variable) {
    if (variable.starts_with(kVariable)) {
      for_each_piece(variable.substr(kVariable.size()), ' ',
                     [&](std::string_view option) { options.take(option); });
    }
  });
  for_each_piece(command_line, '\0', [&](std::string_view option) { options.take(option); });
  return options.place();
}

}  // namespace nodescope
