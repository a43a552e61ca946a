#include "target/target_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "base/pattern.h"
#include "base/text.h"
#include "os/privileges.h"
#include "os/procfs.h"

namespace nodescope {

namespace {

// Fewer digits of an id would be a word like "fade".
constexpr std::size_t kMinIdDigits = 4;

constexpr std::size_t kMaxListed = 20;

constexpr std::string_view kCgroupMount = "/sys/fs/cgroup";
constexpr std::string_view kNamePrefix = "name:";

using Matches = std::vector<const NodeProcess*>;

Matches filter(std::span<const NodeProcess> processes,
               const std::function<bool(const NodeProcess&)>& accepts) {
  Matches matches;
  for (const NodeProcess& process : processes) {
    if (accepts(process)) matches.push_back(&process);
  }
  return matches;
}

bool is_at_or_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// A path as /proc/PID/cgroup has it, or one below /sys/fs/cgroup, where version 1 and hybrid machines have a
// folder per controller in between.
Matches match_cgroup(std::span<const NodeProcess> processes, std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string_view> folders{path};
  if (is_at_or_below(path, kCgroupMount)) {
    const std::string_view below = path.substr(kCgroupMount.size());
    folders = {below, below.substr(std::min(below.find('/', 1), below.size()))};
  }
  std::erase(folders, "");
  return filter(processes, [&](const NodeProcess& process) {
    return std::ranges::any_of(process.cgroups, [&](const std::string& cgroup) {
      return std::ranges::any_of(folders,
                                 [&](std::string_view folder) { return is_at_or_below(cgroup, folder); });
    });
  });
}

Matches match_container(std::span<const NodeProcess> processes, std::string_view text) {
  return filter(processes, [&](const NodeProcess& process) {
    if (process.container.empty()) return false;
    if (text == process.container || text == process.container_name || text == process.pod) return true;
    return text.size() >= kMinIdDigits && process.container.starts_with(text);
  });
}

Result<Matches> match_name(std::span<const NodeProcess> processes, std::string_view text) {
  const auto pattern = Pattern::parse(text);
  return filter(processes, [&](const NodeProcess& process) {
    for (const std::string* name : {&process.invocation.script, &process.invocation.title,
                                    &process.marks.pm2_name, &process.script_path, &process.program}) {
      // A path with a bracket in it is no regular expression, and is meant as it is.
      if (name->find(text) != std::string::npos || (pattern && pattern->found_in(*name))) return true;
    }
    return false;
  });
}

std::string list_text(std::span<const NodeProcess> processes, const std::set<pid_t>& wanted) {
  std::string text;
  std::size_t listed = 0;
  for (const NodeProcess& process : processes) {
    if (!wanted.contains(process.pid)) continue;
    if (++listed > kMaxListed) continue;
    fmt::format_to(std::back_inserter(text), "\n  {:>8}  {}", process.pid, printable(process.label()));
    if (process.role != NodeRole::kStandalone) text += fmt::format("  ({})", to_string(process.role));
  }
  if (listed > kMaxListed) text += fmt::format("\n  and {} more", listed - kMaxListed);
  return text;
}

std::unexpected<Error> nothing_matches(std::string_view target, const NodeProcessList& list) {
  std::string message = fmt::format("no Node.js process matches \"{}\"", target);
  const std::string_view pattern =
      target.starts_with(kNamePrefix) ? target.substr(kNamePrefix.size()) : target;
  if (const auto parsed = Pattern::parse(pattern); !parsed) message += "; " + parsed.error().message;
  if (list.processes.empty()) {
    message += "; there is none on this machine";
  } else {
    message += fmt::format("; 'nodescope ps' lists the {} that there are", list.processes.size());
  }
  if (list.unreadable != 0) {
    message += fmt::format("; {} more could not be looked at: {}", list.unreadable,
                           why_not_looked_at(read_privileges()));
  }
  return fail(ErrorCode::kNotFound, std::move(message));
}

// kNotFound if there is no such process; other errors are of looking for it.
Result<void> check_exists(pid_t pid) {
  const auto pids = list_processes();
  if (!pids) return std::unexpected(pids.error());
  if (pid > 0 && std::ranges::binary_search(*pids, pid)) return {};
  return fail(ErrorCode::kNotFound, fmt::format("there is no process {}", pid));
}

class Selector {
 public:
  Result<void> add_pid(pid_t pid) {
    if (auto found = check_exists(pid); !found) return found;
    if (process_state(pid) == ProcessState::kEnded)
      return fail(ErrorCode::kNotFound,
                  fmt::format("process {} has ended; its parent has not taken notice yet", pid));
    found_.insert(pid);
    return {};
  }

  Result<void> add_tree(pid_t root) {
    const auto family = list_descendants(root);
    if (!family) return std::unexpected(family.error());
    if (auto listed = list(); !listed) return listed;
    bool any = false;
    for (const NodeProcess& process : list_->processes) {
      if (!std::ranges::binary_search(*family, process.pid)) continue;
      found_.insert(process.pid);
      any = true;
    }
    if (!any)
      return fail(ErrorCode::kNotFound, fmt::format("neither process {} nor one below it is Node.js", root));
    return {};
  }

  Result<void> add(const std::string& target) {
    // Digits may also be the beginning of a container's id.
    const auto pid = parse_number<pid_t>(target);
    if (pid) {
      const auto found = check_exists(*pid);
      if (found) return add_pid(*pid);
      if (found.error().code != ErrorCode::kNotFound) return found;
    }
    if (auto listed = list(); !listed) return listed;
    const auto matches = match_target(list_->processes, target);
    if (!matches) return std::unexpected(matches.error());
    if (matches->empty()) return pid ? add_pid(*pid) : nothing_matches(target, *list_);
    for (const NodeProcess* process : *matches) found_.insert(process->pid);
    return {};
  }

  Result<void> list() {
    if (list_) return {};
    auto listed = list_node_processes();
    if (!listed) return std::unexpected(listed.error());
    list_ = std::move(*listed);
    return {};
  }

  const std::set<pid_t>& found() const { return found_; }
  std::string found_text() { return list() ? list_text(list_->processes, found_) : std::string(); }

 private:
  std::set<pid_t> found_;
  std::optional<NodeProcessList> list_;
};

Result<void> select_with(Selector& selector, const TargetSpec& spec) {
  if (spec.empty()) return fail(ErrorCode::kUsage, "which process? give a pid, a name or a container");
  for (const pid_t pid : spec.pids) {
    if (auto added = selector.add_pid(pid); !added) return added;
  }
  if (spec.tree) {
    if (auto added = selector.add_tree(*spec.tree); !added) return added;
  }
  for (const std::string& target : spec.targets) {
    if (auto added = selector.add(target); !added) return added;
  }
  return {};
}

}  // namespace

Result<std::vector<const NodeProcess*>> match_target(std::span<const NodeProcess> processes,
                                                     std::string_view target) {
  constexpr std::string_view kCgroup = "cgroup:";
  constexpr std::string_view kContainer = "container:";
  if (target.empty()) return fail(ErrorCode::kUsage, "an empty target means no process");
  if (target.starts_with(kCgroup)) return match_cgroup(processes, target.substr(kCgroup.size()));
  if (target.starts_with(kContainer)) return match_container(processes, target.substr(kContainer.size()));
  if (target.starts_with(kNamePrefix)) return match_name(processes, target.substr(kNamePrefix.size()));
  if (target.starts_with('/')) {
    if (auto matches = match_cgroup(processes, target); !matches.empty()) return matches;
  }
  if (auto matches = match_container(processes, target); !matches.empty()) return matches;
  return match_name(processes, target);
}

Result<std::vector<pid_t>> select_targets(const TargetSpec& spec) {
  Selector selector;
  if (auto selected = select_with(selector, spec); !selected) return std::unexpected(selected.error());
  return std::vector<pid_t>(selector.found().begin(), selector.found().end());
}

Result<pid_t> select_one_target(const TargetSpec& spec) {
  Selector selector;
  if (auto selected = select_with(selector, spec); !selected) return std::unexpected(selected.error());
  if (selector.found().size() == 1) return *selector.found().begin();
  return fail(ErrorCode::kUsage, fmt::format("{} processes match; this takes one, by its pid:{}",
                                             selector.found().size(), selector.found_text()));
}

}  // namespace nodescope
