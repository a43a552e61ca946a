#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/privileges.h"
#include "target/invocation.h"

namespace nodescope {

enum class NodeRole : std::uint8_t {
  kStandalone,
  kClusterMaster,
  kClusterWorker,
  kPm2Daemon,
  kPm2App,
  kPm2ClusterWorker,
  kForked,  // by child_process.fork()
};

std::string_view to_string(NodeRole role);

struct NodeProcess {
  pid_t pid = 0;
  pid_t innermost_pid = 0;  // the one that it has for itself
  pid_t parent = 0;
  // False: it belongs to somebody else; that it is Node.js is only what its name says, and the version is not
  // known.
  bool readable = true;
  std::string node;       // "20.20.2"; empty: not known
  Invocation invocation;  // pm2's script where it is one of pm2's
  std::string
      script_path;  // the script below the working directory; empty: it was typed as a whole path, or is none
  std::string program;  // the file's name, if Node.js goes by another; empty: it is called as usual
  LaunchMarks marks;
  NodeRole role = NodeRole::kStandalone;
  std::string container;       // its id, or its name where the engine has none; empty: it is in none
  std::string container_name;  // empty: not known
  std::string pod;             // Kubernetes' uid; empty: it is in none
  std::vector<std::string> cgroups;
  std::uint32_t threads = 0;
  std::uint64_t cpu_ns = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t uptime_ns = 0;

  // "/app/server.js", and where it is not known the title.
  const std::string& label() const {
    return invocation.script.empty() ? invocation.title : invocation.script;
  }
};

struct NodeProcessList {
  std::vector<NodeProcess> processes;  // by pid
  std::size_t unreadable = 0;          // processes that could not be looked at, whatever they are
};

// Why some were not: what the user lacks, or that nobody may.
std::string why_not_looked_at(const Privileges& privileges);

enum class Unreadable : bool {
  kOnlyIfNamedNode,  // of the processes that may not be looked at, those that are called like Node.js
  kAll,
};

// The Node.js processes of this machine now.
Result<NodeProcessList> list_node_processes(Unreadable unreadable = Unreadable::kOnlyIfNamedNode);

// Sets the roles that can be told only by looking at parents: masters, pm2's daemon and apps.
void assign_roles(std::vector<NodeProcess>& processes);

// `root` and everything below it, by pid, whatever it runs.  kNotFound when there is no such process.
Result<std::vector<pid_t>> list_descendants(pid_t root);

}  // namespace nodescope
