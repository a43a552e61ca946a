#include "capture/thread_names.h"

#include <algorithm>
#include <array>

#include "base/path.h"
#include "base/text.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

struct Role {
  std::string_view function;  // a part of its name
  std::string_view name;
};
constexpr std::string_view kWorker = "worker";
constexpr std::array kRoles = {
    Role{"node::worker::Worker::StartThread", kWorker},
    Role{"PlatformWorkerThread", "v8 platform"},
    Role{"DelayedTaskScheduler", "v8 delayed tasks"},
    Role{"StartIoThreadMain", "inspector signal"},
    Role{"node::inspector::", "inspector"},
    Role{"uv__threadpool", "libuv pool"},
    Role{"node::WatchdogThread", "watchdog"},
};
constexpr std::string_view kLibuvPoolFunction = "worker";  // libuv's own, in src/threadpool.c

// What Node.js calls its threads when the program does not, and what a worker may have inherited.
constexpr std::array<std::string_view, 4> kDefaultNames = {"WorkerThread", "node", "MainThread",
                                                           "node-MainThread"};
constexpr std::size_t kMaxThreadName = 15;  // TASK_COMM_LEN without its NUL

std::string_view find_role(const ThreadBegin& begin, v8::ProcessView* view) {
  for (std::size_t i = 0; i < std::min(begin.functions.size(), kRoleDepth); ++i) {
    if (const std::string_view role = role_of_function(begin.functions[i]); !role.empty()) return role;
  }
  if (view == nullptr || begin.complete) return {};
  for (const std::string& function : view->functions_at_stack_begin(begin.stack_pointer)) {
    if (const std::string_view role = role_of_function(function); !role.empty()) return role;
  }
  return {};
}

}  // namespace

std::string_view role_of_function(std::string_view function) {
  if (function == kLibuvPoolFunction) return "libuv pool";
  for (const Role& role : kRoles) {
    if (function.contains(role.function)) return role.name;
  }
  return {};
}

std::string choose_thread_name(std::string_view role, std::string_view own_name,
                               const std::vector<std::string_view>& inherited) {
  if (role.empty()) return std::string(own_name);
  const bool is_given = role == kWorker && !own_name.empty() &&
                        std::ranges::find(kDefaultNames, own_name) == kDefaultNames.end() &&
                        std::ranges::find(inherited, own_name) == inherited.end();
  return std::string(is_given ? own_name : role);
}

std::string name_thread(pid_t pid, pid_t tid, const ThreadBegin& begin, v8::ProcessView* view) {
  if (tid == pid) return "main";
  const auto name_of = [&](pid_t thread) {
    return view != nullptr ? view->process().thread_name(thread) : thread_name(pid, thread);
  };
  const std::string own_name = name_of(tid);
  const std::string process_name = name_of(pid);
  const std::string_view program =
      view != nullptr ? file_name_of(view->process().executable()) : std::string_view();
  return to_valid_utf8(choose_thread_name(find_role(begin, view), own_name,
                                          {process_name, program.substr(0, kMaxThreadName)}));
}

}  // namespace nodescope
