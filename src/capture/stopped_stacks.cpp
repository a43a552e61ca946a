#include "capture/stopped_stacks.h"

namespace nodescope {

Result<StoppedStacks> read_stopped_stacks(v8::ProcessView& view, Diagnostics& diagnostics) {
  auto stopped = view.process().stop();
  if (!stopped) return std::unexpected(stopped.error());
  if (auto refreshed = view.refresh_map(diagnostics); !refreshed) return std::unexpected(refreshed.error());
  view.begin_generation();
  StoppedStacks stacks;
  for (const TargetThread& thread : (*stopped)->threads()) {
    stacks.threads.push_back({thread.tid, Address{thread.registers.get(Register::kRsp).value_or(0)},
                              view.read_stack(thread.registers, thread.thread_pointer)});
  }
  stacks.stopped_ns = (*stopped)->resume_ns();
  return stacks;
}

}  // namespace nodescope
