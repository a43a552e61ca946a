#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope {

// The pid that the process has in its innermost pid namespace, from /proc/PID/status ("NSpid:  21197  1").
std::optional<pid_t> parse_innermost_pid(std::string_view status);

// The id of the container, from /proc/PID/cgroup: the last path component that has 64 hexadecimal digits, as
// docker, containerd, cri-o and podman make them, with or without a prefix or ".scope".
std::optional<std::string> parse_container_id(std::string_view cgroup);

// The process lives in a pid namespace below the one of our /proc.
bool is_in_inner_pid_namespace(std::string_view status);

// The uid of the pod in Kubernetes, from a path such as "/kubepods/burstable/pod<uid>/…" or
// "kubepods-burstable-pod<uid>.slice".
std::optional<std::string> parse_pod_id(std::string_view cgroup);

// The distinct paths of /proc/PID/cgroup, without the root.
std::vector<std::string> parse_cgroup_paths(std::string_view cgroup);

// For an engine with names instead of ids (runc, systemd-nspawn): the last component of the path, without
// ".scope" and ".service".
std::string container_name_in(std::string_view cgroup_path);

}  // namespace nodescope
