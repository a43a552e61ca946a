#include "analysis/cause.h"

#include <algorithm>
#include <array>

#include "model/waiting.h"

namespace nodescope {

namespace {

// Where a function of V8 belongs by the beginning of its name, after "v8::internal::".
struct V8Part {
  std::string_view prefix;
  Cause cause;
};

constexpr std::string_view kV8 = "v8::internal::";

constexpr auto kV8Parts = std::to_array<V8Part>({
    {"baseline::", Cause::kCompile},
    {"compiler::", Cause::kCompile},
    {"maglev::", Cause::kCompile},
    {"parsing::", Cause::kCompile},
    {"interpreter::Bytecode", Cause::kCompile},
    {"interpreter::Interpreter::NewCompilationJob", Cause::kCompile},
    {"interpreter::InterpreterCompilationJob", Cause::kCompile},
    {"Compiler::", Cause::kCompile},
    {"BackgroundCompileTask", Cause::kCompile},
    {"OptimizedCompilationJob", Cause::kCompile},
    {"OptimizingCompileDispatcher", Cause::kCompile},
    {"LazyCompileDispatcher", Cause::kCompile},
    {"UnoptimizedCompilationJob", Cause::kCompile},
    {"TurbofanCompilationJob", Cause::kCompile},
    {"Parser", Cause::kCompile},
    {"PreParser", Cause::kCompile},
    {"Scanner", Cause::kCompile},
    {"DeclarationScope::", Cause::kCompile},
    {"CodeSerializer", Cause::kCompile},
    {"wasm::Compil", Cause::kCompile},
    {"wasm::Execute", Cause::kCompile},
    {"wasm::Liftoff", Cause::kCompile},
    {"RegExp", Cause::kRegExp},
    {"IrregexpInterpreter", Cause::kRegExp},
    {"NativeRegExpMacroAssembler", Cause::kRegExp},
    {"Runtime_RegExp", Cause::kRegExp},
    {"Runtime_StringReplace", Cause::kRegExp},
    {"Heap::CollectGarbage", Cause::kGc},
    {"Heap::PerformGarbageCollection", Cause::kGc},
    {"Heap::CollectAllGarbage", Cause::kGc},
    {"Scavenge", Cause::kGc},
    {"MarkCompactCollector", Cause::kGc},
    {"MinorMarkSweepCollector", Cause::kGc},
    {"ConcurrentMarking", Cause::kGc},
    {"IncrementalMarking", Cause::kGc},
    {"Sweeper", Cause::kGc},
});

constexpr auto kIdleKernelFunctions =
    std::to_array<std::string_view>({"cpu_startup_entry", "default_idle", "do_idle", "intel_idle"});

Cause cause_of_native(std::string_view function) {
  if (!function.starts_with(kV8)) return Cause::kNative;
  const std::string_view rest = function.substr(kV8.size());
  const auto part =
      std::ranges::find_if(kV8Parts, [&](const V8Part& known) { return rest.starts_with(known.prefix); });
  return part == kV8Parts.end() ? Cause::kNative : part->cause;
}

Cause cause_of_kernel(std::string_view function) {
  if (is_wait_frame(function)) return function == kIdleWaitFrame ? Cause::kIdle : Cause::kWaiting;
  const bool is_idle = std::ranges::find(kIdleKernelFunctions, function) != kIdleKernelFunctions.end();
  return is_idle ? Cause::kIdle : Cause::kKernel;
}

bool takes_over(Cause cause) {
  return cause == Cause::kGc || cause == Cause::kCompile || cause == Cause::kRegExp ||
         cause == Cause::kIdle || cause == Cause::kWaiting;
}

}  // namespace

std::string_view to_string(Cause cause) {
  constexpr std::array<std::string_view, kCauseCount> kNames = {
      "js", "gc", "compile", "regexp", "native", "kernel", "idle", "other", "waiting"};
  return kNames[static_cast<std::size_t>(cause)];
}

Cause cause_below(Cause caller, Cause frame) {
  return takes_over(caller) && frame != Cause::kJs && !takes_over(frame) ? caller : frame;
}

Cause cause_of(FrameKind kind, Origin origin, std::string_view function) {
  switch (kind) {
    case FrameKind::kJs:
    case FrameKind::kWasm:
    case FrameKind::kBuiltin:
      return Cause::kJs;
    case FrameKind::kGc:
      return Cause::kGc;
    case FrameKind::kRegExp:
      return Cause::kRegExp;
    case FrameKind::kNative:
      return cause_of_native(function);
    case FrameKind::kKernel:
      return cause_of_kernel(function);
    case FrameKind::kUnknown:
      break;
  }
  if (function == "(idle)") return Cause::kIdle;
  return origin == Origin::kNative ? Cause::kNative : Cause::kOther;
}

std::vector<Cause> derive_causes(const Profile& profile) {
  std::vector<Cause> of_frame;
  of_frame.reserve(profile.frames.size());
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    of_frame.push_back(cause_of(frame.kind, origin_of(profile, frame).origin, profile.text(frame.function)));
  }
  std::vector<Cause> causes(profile.stacks.size(), Cause::kOther);
  for (std::size_t i = 1; i < causes.size(); ++i) {
    const StackId stack{i};
    causes[i] = cause_below(causes[profile.stacks.caller(stack).index()],
                            of_frame[profile.stacks.frame(stack).index()]);
  }
  return causes;
}

CauseTotals sum_causes(const std::vector<Cause>& causes, const std::vector<std::uint64_t>& sums) {
  CauseTotals totals;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    totals.by[static_cast<std::size_t>(causes[i])] += sums[i];
    totals.total += sums[i];
  }
  return totals;
}

CauseTotals sum_causes(const Profile& profile, std::size_t first_sample) {
  std::vector<std::uint64_t> sums(profile.stacks.size());
  for (std::size_t i = first_sample; i < profile.samples.size(); ++i) {
    sums[profile.samples.stack(i).value] += profile.samples.weight(i);
  }
  return sum_causes(derive_causes(profile), sums);
}

}  // namespace nodescope
