#include "analysis/event_loop.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nodescope {

namespace {

using NamedPhase = std::pair<std::string_view, LoopPhase>;

// Functions of libuv and Node, whole names without arguments.  Nested calls follow each other, and the
// innermost one before the first JavaScript tells most.
constexpr auto kNativePhases = std::to_array<NamedPhase>({
    {"node::Environment::CheckImmediate", LoopPhase::kCheck},
    {"node::Environment::RunTimers", LoopPhase::kTimers},
    {"node::InternalCallbackScope::Close", LoopPhase::kMicrotasks},
    {"node::LoadEnvironment", LoopPhase::kStartup},
    {"node::StartExecution", LoopPhase::kStartup},
    {"uv__finish_close", LoopPhase::kClose},
    {"uv__io_poll", LoopPhase::kPoll},
    {"uv__run_check", LoopPhase::kCheck},
    {"uv__run_closing_handles", LoopPhase::kClose},
    {"uv__run_timers", LoopPhase::kTimers},
    {"v8::internal::MicrotaskQueue::RunMicrotasks", LoopPhase::kMicrotasks},
});
static_assert(std::ranges::is_sorted(kNativePhases, {}, &NamedPhase::first));

// Functions of Node's own JavaScript that are called by the loop.
constexpr auto kScriptPhases = std::to_array<NamedPhase>({
    {"listOnTimeout", LoopPhase::kTimers},
    {"processImmediate", LoopPhase::kCheck},
    {"processTicksAndRejections", LoopPhase::kMicrotasks},
    {"processTimers", LoopPhase::kTimers},
});
static_assert(std::ranges::is_sorted(kScriptPhases, {}, &NamedPhase::first));

constexpr auto kLoopFunctions = std::to_array<std::string_view>({
    "epoll_pwait",
    "epoll_wait",
    "uv__io_poll",
    "uv__run_check",
    "uv__run_closing_handles",
    "uv__run_idle",
    "uv__run_pending",
    "uv__run_prepare",
    "uv__run_timers",
    "uv__update_time",
    "uv_run",
});
static_assert(std::ranges::is_sorted(kLoopFunctions));

// Beginnings of the names of builtins through which JavaScript is entered and called.
constexpr auto kStubPrefixes = std::to_array<std::string_view>({
    "ArgumentsAdaptorTrampoline",
    "BaselineOutOfLinePrologue",
    "CEntry_",
    "CallFunction_",
    "CallBoundFunction",
    "CallWithSpread",
    "CallWithArrayLike",
    "Call_Receiver",
    "CompileLazy",
    "ConstructFunction",
    "InterpreterEntryTrampoline",
    "InterpreterPushArgs",
    "JSBuiltinsConstructStub",
    "JSConstructEntry",
    "JSConstructStub",
    "JSEntry",
    "JSRunMicrotasksEntry",
});

template <std::size_t N>
LoopPhase find_phase(const std::array<NamedPhase, N>& phases, std::string_view name) {
  const auto found = std::ranges::lower_bound(phases, name, {}, &NamedPhase::first);
  return found != phases.end() && found->first == name ? found->second : LoopPhase::kUnknown;
}

std::string_view without_arguments(std::string_view function) {
  return function.substr(0, function.find('('));
}

std::string_view builtin_name(std::string_view function) {
  constexpr std::string_view kPrefix = "Builtins_";
  return function.starts_with(kPrefix) ? function.substr(kPrefix.size()) : function;
}

FrameRole role_of(const Profile& profile, const Frame& frame) {
  FrameRole role;
  const std::string_view function = profile.text(frame.function);
  switch (frame.kind) {
    case FrameKind::kJs:
    case FrameKind::kWasm: {
      const std::string_view file = profile.text(frame.file);
      role.is_js = true;
      role.is_nameless_js = function == "[unknown js]";
      if (file.starts_with("node:internal/main/")) {
        role.phase = LoopPhase::kStartup;
      } else if (file.starts_with("node:") || file.starts_with("internal/")) {
        role.phase = find_phase(kScriptPhases, function);
      }
      break;
    }
    case FrameKind::kBuiltin: {
      const std::string_view name = builtin_name(function);
      role.is_call_stub = std::ranges::any_of(
          kStubPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
      // Stands for the function that it runs, where whoever took the sample did not know which.
      role.is_nameless_js = name == "InterpreterEntryTrampoline";
      if (name == "RunMicrotasks") role.phase = LoopPhase::kMicrotasks;
      break;
    }
    case FrameKind::kNative:
    case FrameKind::kUnknown: {
      const std::string_view name = without_arguments(function);
      role.phase = find_phase(kNativePhases, name);
      role.is_loop = std::ranges::binary_search(kLoopFunctions, name);
      break;
    }
    default:
      break;
  }
  return role;
}

}  // namespace

std::string_view to_string(LoopPhase phase) {
  constexpr std::array<std::string_view, kLoopPhaseCount> kNames = {
      "native", "timers", "poll", "check", "close callbacks", "microtasks/next tick", "startup"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::vector<FrameRole> derive_frame_roles(const Profile& profile) {
  std::vector<FrameRole> roles;
  roles.reserve(profile.frames.size());
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    roles.push_back(role_of(profile, profile.frames[FrameId{i}]));
  }
  return roles;
}

}  // namespace nodescope
