#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

namespace nodescope {

// Bits of Privileges::capabilities, by their numbers in the kernel.
enum class Capability : std::uint8_t {
  kDacReadSearch = 2,
  kSysPtrace = 19,
  kSysAdmin = 21,
  kSyslog = 34,
  kPerfmon = 38,
};

// What the user who runs us may do.
struct Privileges {
  std::uint32_t user = 0;
  std::uint64_t capabilities = 0;  // effective
  bool has_seccomp_filter = false;
  std::uint64_t lockable_bytes = 0;  // RLIMIT_MEMLOCK; all bits set: no limit

  bool has(Capability capability) const {
    return (capabilities >> static_cast<unsigned>(capability) & 1u) != 0;
  }
  bool operator==(const Privileges&) const = default;
};
Privileges read_privileges();

// Gives up every capability but these, for good.
void keep_capabilities(std::initializer_list<Capability> kept);

// "kernel/osrelease", "kernel/perf_event_paranoid"; nothing where the kernel has no such setting.
std::optional<std::string> read_sysctl(const std::string& name);
std::optional<std::int64_t> read_sysctl_number(const std::string& name);

// True when /proc/kallsyms shows addresses and not zeros.
bool kernel_addresses_are_shown();

enum class PerfProbe : std::uint8_t { kOwnUser, kOwnWithKernel, kWholeMachine };

// Opens and closes a sampling event.  0 when the kernel allowed it, else its errno.
int try_perf_event(PerfProbe probe);

// Whether a seccomp filter answers perf_event_open before the kernel looks at what it is asked for.
bool perf_is_filtered();

// Attaches to a child of our own and lets it go.  0 when that worked, else the errno.
int try_trace_child();

}  // namespace nodescope
