#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/privileges.h"

namespace nodescope {

// What this machine and this user are, as far as it decides what nodescope can do.
struct MachineFacts {
  std::string kernel;
  Privileges privileges;
  std::optional<std::int64_t> perf_event_paranoid;
  std::optional<std::int64_t> kptr_restrict;
  std::optional<std::int64_t> ptrace_scope;  // nothing: no Yama
  std::optional<std::int64_t> perf_mlock_kb;
  bool kernel_addresses_shown = false;
  bool in_container = false;
  bool perf_is_filtered = false;  // by seccomp
  // errno of an attempt, 0: it worked.
  int trace_child = 0;
  int perf_own_user = 0;
  int perf_own_kernel = 0;
  int perf_whole_machine = 0;

  bool operator==(const MachineFacts&) const = default;
};
MachineFacts read_machine_facts();

enum class Verdict : std::uint8_t { kYes, kPartly, kNo };

std::string_view to_string(Verdict verdict);

struct Check {
  std::string what;  // "stop and read your own processes"
  Verdict verdict = Verdict::kYes;
  std::string why;
  std::string remedy;  // empty for a yes

  bool operator==(const Check&) const = default;
};

// What is possible here, and where it is not, the remedy.
std::vector<Check> derive_checks(const MachineFacts& facts);

}  // namespace nodescope
