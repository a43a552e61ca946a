#include "target/node_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/byte_source.h"
#include "base/path.h"
#include "os/file.h"
#include "os/machine.h"
#include "os/procfs.h"
#include "target/container.h"
#include "target/node_recognizer.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxDockerConfig = std::uint64_t{1} << 20;

// What the main thread is called when nobody has renamed it: before Node 20.12 the program's name, then its
// own.
bool is_named_like_node(const ProcessStat& stat) {
  return stat.name == "node" || stat.name == "nodejs" || stat.name == "node-MainThread" ||
         stat.name == "MainThread";
}

// Docker keeps the names of its containers in their folders; only root may read them.
std::string read_docker_name(const std::string& id) {
  auto source = open_regular_file(fmt::format("/var/lib/docker/containers/{}/config.v2.json", id));
  std::string storage;
  const auto bytes =
      source ? read_whole(**source, storage, kMaxDockerConfig) : std::unexpected(source.error());
  if (!bytes) return {};
  constexpr std::string_view kMark = "\"Name\":\"/";
  const std::string_view text = as_text(*bytes);
  const std::size_t at = text.find(kMark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + kMark.size());
  return std::string(rest.substr(0, rest.find('"')));
}

// "/srv/app/server.js" of "./server.js" in /srv/app.
std::string absolute_script(const std::string& script, const std::string& folder) {
  const bool is_path = !script.empty() && !script.starts_with('/') && !script.starts_with('[');
  if (!is_path || !folder.starts_with('/')) return {};
  return (std::filesystem::path(folder) / script).lexically_normal().string();
}

// "my-service" of "/opt/my-service": everybody's program is called node.
std::string unusual_program(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";  // /proc says so
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  const std::string_view name = file_name_of(path);
  return name == "node" || name == "nodejs" ? std::string() : std::string(name);
}

// Looks at the processes of one moment.
class Listing {
 public:
  Listing()
      : now_ns_(nodescope::uptime_ns()),
        tick_ns_(clock_tick_ns()),
        page_bytes_(nodescope::page_bytes()),
        own_cgroup_(read_proc_file(own_pid(), "cgroup").value_or("")) {}

  Result<NodeProcessList> run(Unreadable unreadable) {
    const auto pids = list_processes();
    if (!pids) return std::unexpected(pids.error());
    NodeProcessList list;
    for (const pid_t pid : *pids) {
      const auto versions = recognizer_.recognize(pid);
      const bool refused = !versions && versions.error().code == ErrorCode::kPermission;
      if (!refused && (!versions || !*versions)) continue;  // ended, or something else
      const auto stat_text = read_proc_file(pid, "stat");
      const auto stat = stat_text ? parse_process_stat(*stat_text) : std::nullopt;
      if (!stat || stat->is_kernel) continue;
      if (refused) ++list.unreadable;
      if (refused && unreadable == Unreadable::kOnlyIfNamedNode && !is_named_like_node(*stat)) continue;
      NodeProcess& process = list.processes.emplace_back(read(pid, *stat));
      process.readable = !refused;
      if (!refused) process.node = (*versions)->node;
    }
    assign_roles(list.processes);
    return list;
  }

 private:
  NodeProcess read(pid_t pid, const ProcessStat& stat) {
    NodeProcess process;
    process.pid = pid;
    process.parent = stat.parent;
    process.threads = stat.threads;
    process.cpu_ns = stat.cpu_ticks * tick_ns_;
    process.resident_bytes = stat.resident_pages * page_bytes_;
    process.uptime_ns = now_ns_ - std::min(now_ns_, stat.start_ticks * tick_ns_);
    if (const auto text = read_proc_file(pid, "cmdline")) process.invocation = parse_invocation(*text);
    process.script_path = absolute_script(process.invocation.script, read_proc_link(pid, "cwd").value_or(""));
    process.program = unusual_program(read_proc_link(pid, "exe").value_or(""));
    if (const auto text = read_proc_file(pid, "environ")) process.marks = parse_launch_marks(*text);
    if (!process.marks.pm2_script.empty() && process.invocation.script.empty())
      process.invocation.script = process.marks.pm2_script;
    read_container(process);
    return process;
  }

  void read_container(NodeProcess& process) {
    const std::string status = read_proc_file(process.pid, "status").value_or("");
    process.innermost_pid = parse_innermost_pid(status).value_or(process.pid);
    const std::string cgroup = read_proc_file(process.pid, "cgroup").value_or("");
    process.cgroups = parse_cgroup_paths(cgroup);
    process.pod = parse_pod_id(cgroup).value_or("");
    if (const auto id = parse_container_id(cgroup)) {
      process.container = *id;
      process.container_name = name_of(*id);
    } else if (is_in_inner_pid_namespace(status) && cgroup != own_cgroup_ && !process.cgroups.empty()) {
      process.container = container_name_in(process.cgroups.front());
    }
    if (process.container_name.empty() && !process.container.empty())
      process.container_name = process.marks.host_name;
  }

  const std::string& name_of(const std::string& id) {
    const auto [known, fresh] = docker_names_.try_emplace(id);
    if (fresh) known->second = read_docker_name(id);
    return known->second;
  }

  NodeRecognizer recognizer_;
  std::uint64_t now_ns_;
  std::uint64_t tick_ns_;
  std::uint64_t page_bytes_;
  std::string own_cgroup_;
  std::map<std::string, std::string> docker_names_;
};

bool is_pm2_daemon(const NodeProcess& process) {
  return process.invocation.title.starts_with("PM2 v") ||
         process.invocation.script.ends_with("/pm2/lib/Daemon.js");
}

}  // namespace

std::string why_not_looked_at(const Privileges& privileges) {
  return privileges.has(Capability::kSysPtrace)
             ? "a user namespace or a security module forbids it, even with CAP_SYS_PTRACE"
             : "they are of other users or namespaces; root with CAP_SYS_PTRACE can";
}

std::string_view to_string(NodeRole role) {
  switch (role) {
    case NodeRole::kStandalone:
      return "standalone";
    case NodeRole::kClusterMaster:
      return "cluster master";
    case NodeRole::kClusterWorker:
      return "cluster worker";
    case NodeRole::kPm2Daemon:
      return "pm2 daemon";
    case NodeRole::kPm2App:
      return "pm2 app";
    case NodeRole::kPm2ClusterWorker:
      return "pm2 cluster worker";
    case NodeRole::kForked:
      return "forked";
  }
  return "standalone";
}

// pm2's variables are inherited by everything that its apps start: only pm2's own children are its apps.
void assign_roles(std::vector<NodeProcess>& processes) {
  std::set<pid_t> masters;
  std::map<pid_t, bool> daemons;
  for (const NodeProcess& process : processes) {
    if (process.marks.cluster_worker) masters.insert(process.parent);
    daemons.emplace(process.pid, is_pm2_daemon(process));
  }
  for (NodeProcess& process : processes) {
    const auto parent = daemons.find(process.parent);
    const bool of_pm2 = !process.marks.pm2_id.empty() && (parent == daemons.end() || parent->second);
    if (is_pm2_daemon(process)) {
      process.role = NodeRole::kPm2Daemon;
    } else if (of_pm2) {
      process.role = process.marks.cluster_worker ? NodeRole::kPm2ClusterWorker : NodeRole::kPm2App;
    } else if (process.marks.cluster_worker) {
      process.role = NodeRole::kClusterWorker;
    } else if (masters.contains(process.pid)) {
      process.role = NodeRole::kClusterMaster;
    } else {
      process.role = process.marks.forked ? NodeRole::kForked : NodeRole::kStandalone;
    }
  }
}

Result<NodeProcessList> list_node_processes(Unreadable unreadable) {
  return Listing().run(unreadable);
}

Result<std::vector<pid_t>> list_descendants(pid_t root) {
  const auto pids = list_processes();
  if (!pids) return std::unexpected(pids.error());
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : *pids) {
    const auto text = read_proc_file(pid, "stat");
    const auto stat = text ? parse_process_stat(*text) : std::nullopt;
    if (stat) children.emplace(stat->parent, pid);
  }
  if (!std::ranges::binary_search(*pids, root))
    return fail(ErrorCode::kNotFound, fmt::format("there is no process {}", root));
  std::set<pid_t> found{root};
  std::vector<pid_t> pending{root};
  while (!pending.empty()) {
    const auto [begin, end] = children.equal_range(pending.back());
    pending.pop_back();
    for (auto child = begin; child != end; ++child) {
      if (found.insert(child->second).second) pending.push_back(child->second);
    }
  }
  return std::vector<pid_t>(found.begin(), found.end());
}

}  // namespace nodescope
