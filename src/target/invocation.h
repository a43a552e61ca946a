#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nodescope {

// One line of /proc/PID/stat.
struct ProcessStat {
  std::string name;  // what the main thread calls itself, up to 15 bytes
  pid_t parent = 0;
  std::uint64_t cpu_ticks = 0;  // user and system
  std::uint64_t start_ticks = 0;
  std::uint64_t resident_pages = 0;
  std::uint32_t threads = 0;
  bool is_kernel = false;  // a thread of the kernel, which /proc shows as a process

  bool operator==(const ProcessStat&) const = default;
};
std::optional<ProcessStat> parse_process_stat(std::string_view text);

// What a Node.js process was asked to run, from /proc/PID/cmdline.
struct Invocation {
  std::string script;  // as typed; "[eval]", "[stdin]"; empty: not known
  std::string title;   // what process.title has put in place of the arguments; empty: they are untouched

  bool operator==(const Invocation&) const = default;
};
Invocation parse_invocation(std::string_view command_line);

// What cluster, child_process and pm2 have put into the environment that a process was started with.
struct LaunchMarks {
  bool cluster_worker = false;  // NODE_UNIQUE_ID, which workers do not pass on
  bool forked = false;          // NODE_CHANNEL_FD: child_process.fork()
  std::string pm2_id;           // empty: neither started by pm2 nor by a process that was
  std::string pm2_name;
  std::string pm2_script;
  std::string host_name;  // HOSTNAME, which container engines set: a pod's name in Kubernetes

  bool operator==(const LaunchMarks&) const = default;
};
LaunchMarks parse_launch_marks(std::string_view environment);

}  // namespace nodescope
