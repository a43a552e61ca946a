#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nodescope {

// Where an inspector listens, and the path of its one target there.
struct InspectorAddress {
  std::string host;
  std::uint16_t port = 0;
  std::string path;

  bool operator==(const InspectorAddress&) const = default;
};

// As in a URL and in the header of a request: "127.0.0.1:9229", "[::1]:9229".
std::string host_with_port(const InspectorAddress& address);

// "ws://127.0.0.1:9229/0f2c…", as Node.js prints it.
Result<InspectorAddress> parse_inspector_url(std::string_view url);

// The target in the answer to /json/list; nothing where that is no list of an inspector.
std::optional<std::string> parse_target_path(std::string_view answer);

// Where SIGUSR1 would open the inspector of a process.
struct InspectorPlace {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9229;  // 0: any that is free

  // Only programs of the same machine, or the same container, could connect.
  bool is_loopback() const;
  bool operator==(const InspectorPlace&) const = default;
};

// By its arguments and its NODE_OPTIONS.
InspectorPlace inspector_place_of(std::string_view command_line, std::string_view environment);

}  // namespace nodescope
