#include "target/machine_check.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "os/file.h"
#include "os/procfs.h"
#include "target/container.h"

namespace nodescope {

namespace {

constexpr std::string_view kContainerRemedy =
    "in a container: add the capability (docker run --cap-add SYS_PTRACE --cap-add PERFMON) and a seccomp "
    "profile that allows perf_event_open and ptrace (--security-opt seccomp=unconfined), or run nodescope on "
    "the host";

std::string setting(std::string_view name, const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}={}", name, *value) : fmt::format("{} is not there", name);
}

bool is_file(const std::string& path) {
  return open_regular_file(path).has_value();
}

bool may_sample_others(const Privileges& privileges) {
  return privileges.has(Capability::kPerfmon) || privileges.has(Capability::kSysAdmin);
}

std::string in_container_too(const MachineFacts& facts, std::string remedy) {
  if (!facts.in_container && !facts.privileges.has_seccomp_filter) return remedy;
  return remedy + "; " + std::string(kContainerRemedy);
}

// What lets a user have samples that this level of the setting allows; where it is that low already,
// something else refuses them.
std::string perf_remedy(const MachineFacts& facts, std::int64_t level) {
  if (facts.perf_is_filtered) return std::string(kContainerRemedy);
  if (facts.perf_event_paranoid && *facts.perf_event_paranoid <= level) {
    return in_container_too(
        facts, "allow the system call perf_event_open: a seccomp filter or a security module refuses it");
  }
  return in_container_too(facts,
                          fmt::format("run as root, or 'sysctl kernel.perf_event_paranoid={}'", level));
}

// Yama: 0 all of one's own, 1 only descendants, 2 only with the capability, 3 nobody.
Check check_own_processes(const MachineFacts& facts) {
  Check check{"stop and read your own processes (dump, doctor)", Verdict::kYes, {}, {}};
  const bool capable = facts.privileges.has(Capability::kSysPtrace);
  const std::int64_t scope = facts.ptrace_scope.value_or(0);
  const std::string yama =
      facts.ptrace_scope ? setting("kernel.yama.ptrace_scope", facts.ptrace_scope) : "no Yama";
  if (facts.trace_child != 0) {
    check.verdict = Verdict::kNo;
    check.why =
        fmt::format("attaching even to a child of our own is refused: {}", std::strerror(facts.trace_child));
    check.remedy = scope == 3 ? "kernel.yama.ptrace_scope=3 holds until the machine restarts without it"
                              : in_container_too(facts, "allow the system call ptrace");
  } else if (scope == 0 || (capable && scope < 3)) {
    check.why = yama + (capable ? ", and you have CAP_SYS_PTRACE" : "");
  } else {
    check.verdict = scope == 1 ? Verdict::kPartly : Verdict::kNo;
    check.why = yama + (scope == 1 ? ": only processes that nodescope has started itself" : "");
    check.remedy = in_container_too(facts, "run as root, or 'sysctl kernel.yama.ptrace_scope=0'");
  }
  return check;
}

Check check_other_processes(const MachineFacts& facts) {
  Check check{"stop and read processes of other users", Verdict::kYes, "you have CAP_SYS_PTRACE", {}};
  if (!facts.privileges.has(Capability::kSysPtrace)) {
    check.verdict = Verdict::kNo;
    check.why = fmt::format("user {} has no CAP_SYS_PTRACE", facts.privileges.user);
    check.remedy = in_container_too(
        facts,
        "run as root, as the user of the process, or 'setcap cap_sys_ptrace,cap_perfmon+ep nodescope'");
  }
  return check;
}

Check check_own_samples(const MachineFacts& facts) {
  Check check{"sample your own processes (record, top)", Verdict::kYes, "perf_event_open works", {}};
  if (facts.perf_own_user == 0) return check;
  check.verdict = Verdict::kNo;
  check.why = facts.perf_is_filtered
                  ? "a seccomp filter blocks perf_event_open (the default profile of Docker does)"
                  : fmt::format("perf_event_open: {}; {}", std::strerror(facts.perf_own_user),
                                setting("kernel.perf_event_paranoid", facts.perf_event_paranoid));
  const bool is_missing = facts.perf_own_user == ENOSYS && !facts.perf_is_filtered;
  check.remedy = is_missing ? "a kernel with CONFIG_PERF_EVENTS" : perf_remedy(facts, 2);
  return check;
}

Check check_kernel_frames(const MachineFacts& facts) {
  Check check{"frames of the kernel in samples", Verdict::kYes, "perf_event_open allows them", {}};
  if (facts.perf_own_kernel == 0) return check;
  check.verdict = Verdict::kNo;
  check.why =
      fmt::format("{}, and user {} has no CAP_PERFMON; samples have user code only",
                  setting("kernel.perf_event_paranoid", facts.perf_event_paranoid), facts.privileges.user);
  check.remedy = perf_remedy(facts, 1);
  return check;
}

Check check_kernel_names(const MachineFacts& facts) {
  Check check{"names of kernel functions", Verdict::kYes, "/proc/kallsyms shows addresses", {}};
  if (facts.kernel_addresses_shown) return check;
  check.verdict = Verdict::kNo;
  check.why = "/proc/kallsyms shows zeros; " + setting("kernel.kptr_restrict", facts.kptr_restrict);
  check.remedy =
      "run as root with kernel.kptr_restrict below 2, or 'sysctl kernel.kptr_restrict=0 "
      "kernel.perf_event_paranoid=1'";
  return check;
}

Check check_other_samples(const MachineFacts& facts) {
  Check check{"sample processes of other users", Verdict::kYes, "you have CAP_PERFMON", {}};
  if (may_sample_others(facts.privileges)) {
    if (!facts.privileges.has(Capability::kSysPtrace)) {
      check.verdict = Verdict::kPartly;
      check.why = "CAP_PERFMON without CAP_SYS_PTRACE: samples, but no names of JavaScript functions";
      check.remedy = "'setcap cap_sys_ptrace,cap_perfmon+ep nodescope', or run as root";
    }
    return check;
  }
  check.verdict = Verdict::kNo;
  check.why = fmt::format("user {} has no CAP_PERFMON", facts.privileges.user);
  check.remedy = in_container_too(facts, "run as root, or 'setcap cap_sys_ptrace,cap_perfmon+ep nodescope'");
  return check;
}

Check check_whole_machine(const MachineFacts& facts) {
  Check check{"sample whole containers and machines", Verdict::kYes, "perf_event_open allows it", {}};
  if (facts.perf_whole_machine == 0) return check;
  check.verdict = Verdict::kNo;
  check.why = fmt::format("perf_event_open: {}; {}", std::strerror(facts.perf_whole_machine),
                          setting("kernel.perf_event_paranoid", facts.perf_event_paranoid));
  check.remedy = perf_remedy(facts, 0);
  return check;
}

}  // namespace

MachineFacts read_machine_facts() {
  MachineFacts facts;
  facts.kernel = read_sysctl("kernel/osrelease").value_or("");
  facts.privileges = read_privileges();
  facts.perf_event_paranoid = read_sysctl_number("kernel/perf_event_paranoid");
  facts.kptr_restrict = read_sysctl_number("kernel/kptr_restrict");
  facts.ptrace_scope = read_sysctl_number("kernel/yama/ptrace_scope");
  facts.perf_mlock_kb = read_sysctl_number("kernel/perf_event_mlock_kb");
  facts.kernel_addresses_shown = kernel_addresses_are_shown();
  const auto cgroup = read_proc_file(own_pid(), "cgroup");
  facts.in_container =
      (cgroup && parse_container_id(*cgroup)) || is_file("/.dockerenv") || is_file("/run/.containerenv");
  facts.trace_child = try_trace_child();
  facts.perf_is_filtered = perf_is_filtered();
  facts.perf_own_user = try_perf_event(PerfProbe::kOwnUser);
  facts.perf_own_kernel = try_perf_event(PerfProbe::kOwnWithKernel);
  facts.perf_whole_machine = try_perf_event(PerfProbe::kWholeMachine);
  return facts;
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kYes:
      return "yes";
    case Verdict::kPartly:
      return "partly";
    case Verdict::kNo:
      return "no";
  }
  return "no";
}

std::vector<Check> derive_checks(const MachineFacts& facts) {
  return {check_own_processes(facts), check_other_processes(facts), check_own_samples(facts),
          check_other_samples(facts), check_kernel_frames(facts),   check_kernel_names(facts),
          check_whole_machine(facts)};
}

}  // namespace nodescope
