#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace nodescope {

// The pid that the process has in its innermost pid namespace, from /proc/PID/status ("NSpid:  21197  1").
std::optional<pid_t> parse_innermost_pid(std::string_view status);

// The id of the container, from /proc/PID/cgroup: the last path component that has 64 hexadecimal digits, as
// docker, containerd, cri-o and podman make them, with or without a prefix or ".scope".
std::optional<std::string> parse_container_id(std::string_view cgroup);

}  // namespace nodescope
