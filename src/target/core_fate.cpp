#include "target/core_fate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "os/file.h"
#include "os/procfs.h"
#include "target/container.h"

namespace nodescope {

namespace {

constexpr std::string_view kWhat = "keep a core of this process if it dies";
constexpr std::string_view kRaise =
    "ulimit -c unlimited before it starts; LimitCORE=infinity in its unit; docker run --ulimit core=-1; for "
    "the one that runs: prlimit --core=unlimited --pid PID";

// Who takes the cores on this machine.
struct Keeper {
  std::string_view program;
  std::string_view place;
};
constexpr Keeper kKeepers[] = {
    {"systemd-coredump", "systemd keeps it: coredumpctl dump -o core PID"},
    {"apport", "apport keeps it in /var/crash"},
    {"abrt", "abrt keeps it in /var/spool/abrt"},
};

std::string place_of(const CoreFate& fate) {
  if (!fate.pattern.starts_with('|')) {
    const std::string where =
        fate.pattern.starts_with('/')
            ? fate.pattern
            : (fate.folder.empty() ? "the folder it works in" : fate.folder) + "/" + fate.pattern;
    return "the kernel writes it to " + where + (fate.in_container ? ", in its container" : "");
  }
  std::string_view program = std::string_view(fate.pattern).substr(1);
  program = program.substr(0, program.find(' '));
  for (const Keeper& keeper : kKeepers) {
    if (file_name_of(program).contains(keeper.program)) return std::string(keeper.place);
  }
  return fmt::format("the kernel gives it to {}", program);
}

}  // namespace

std::optional<std::uint64_t> parse_core_limit(std::string_view limits) {
  constexpr std::string_view kKey = "Max core file size";
  const std::size_t at = limits.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = limits.substr(at + kKey.size());
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
  const std::string_view word = rest.substr(0, rest.find(' '));
  return word == "unlimited" ? std::optional(kUnlimited) : parse_number<std::uint64_t>(word);
}

CoreFate read_core_fate(pid_t pid) {
  CoreFate fate;
  if (auto source = open_file("/proc/sys/kernel/core_pattern")) {
    std::string text(4096, '\0');
    const auto count = (*source)->read(std::as_writable_bytes(std::span(text)));
    fate.pattern = text.substr(0, text.find_first_of(std::string_view("\n\0", 2)));
    if (!count) fate.pattern.clear();
  }
  if (const auto limits = read_proc_file(pid, "limits")) fate.limit = parse_core_limit(*limits);
  if (const auto cgroup = read_proc_file(pid, "cgroup"))
    fate.in_container = parse_container_id(*cgroup).has_value();
  fate.folder = read_proc_link(pid, "cwd").value_or("");
  return fate;
}

Check derive_core_check(const CoreFate& fate) {
  Check check{std::string(kWhat), Verdict::kYes, {}, {}};
  if (fate.pattern.empty()) {
    check.verdict = Verdict::kNo;
    check.why = "kernel.core_pattern is empty";
    check.remedy = "sysctl kernel.core_pattern=core.%p";
  } else if (!fate.limit) {
    check.verdict = Verdict::kPartly;
    check.why = "its limit on cores could not be read; if that permits it, " + place_of(fate);
  } else if (*fate.limit == 0) {
    check.verdict = Verdict::kNo;
    check.why = "its limit on the size of cores is 0";
    check.remedy = kRaise;
  } else if (*fate.limit != kUnlimited) {
    check.verdict = Verdict::kPartly;
    check.why = fmt::format("cut off after {}: {}", human_bytes(*fate.limit), place_of(fate));
    check.remedy = kRaise;
  } else {
    check.why = place_of(fate);
  }
  return check;
}

}  // namespace nodescope
