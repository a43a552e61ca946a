#include "capture/stopped_stacks.h"

#include <fmt/format.h>

#include <chrono>

namespace nodescope {

Result<StoppedStacks> read_stopped_stacks(v8::ProcessView& view, Diagnostics& diagnostics,
                                          const StopOptions& options) {
  auto stopped = view.process().stop_within(options);
  if (!stopped) return std::unexpected(stopped.error());
  if (auto refreshed = view.refresh_map(diagnostics); !refreshed) return std::unexpected(refreshed.error());
  view.begin_generation();
  StoppedStacks stacks;
  for (const TargetThread& thread : (*stopped)->threads()) {
    stacks.threads.push_back({thread.tid, Address{thread.registers.get(Register::kRsp).value_or(0)},
                              view.read_stack(thread.registers, thread.thread_pointer)});
  }
  for (const pid_t tid : (*stopped)->not_stopped()) {
    stacks.not_stopped.push_back(tid);
    diagnostics.warn("thread could not be stopped: it is in uninterruptible sleep",
                     fmt::format("thread {}", tid));
  }
  stacks.stopped_ns = (*stopped)->resume_ns();
  if ((*stopped)->was_cut_short()) {
    return fail(ErrorCode::kLimit,
                fmt::format("process {} went on before its stacks were read: it is not kept from working "
                            "for more than {} s, nor while nodescope itself is stopped",
                            view.process().pid(),
                            std::chrono::duration_cast<std::chrono::seconds>(options.longest).count()));
  }
  return stacks;
}

}  // namespace nodescope
