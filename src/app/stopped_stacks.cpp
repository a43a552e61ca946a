#include "app/stopped_stacks.h"

namespace nodescope {

RegisterSet register_set(const ThreadRegisters& from) {
  RegisterSet set;
  set.set(Register::kRax, from.rax);
  set.set(Register::kRdx, from.rdx);
  set.set(Register::kRcx, from.rcx);
  set.set(Register::kRbx, from.rbx);
  set.set(Register::kRsi, from.rsi);
  set.set(Register::kRdi, from.rdi);
  set.set(Register::kRbp, from.rbp);
  set.set(Register::kRsp, from.rsp);
  set.set(Register::kR8, from.r8);
  set.set(Register::kR9, from.r9);
  set.set(Register::kR10, from.r10);
  set.set(Register::kR11, from.r11);
  set.set(Register::kR12, from.r12);
  set.set(Register::kR13, from.r13);
  set.set(Register::kR14, from.r14);
  set.set(Register::kR15, from.r15);
  set.set(Register::kRip, from.rip);
  return set;
}

Result<StoppedStacks> read_stopped_stacks(v8::ProcessView& view, Diagnostics& diagnostics) {
  auto stopped = StoppedProcess::stop(view.process().pid());
  if (!stopped) return std::unexpected(stopped.error());
  if (auto refreshed = view.refresh_map(diagnostics); !refreshed) return std::unexpected(refreshed.error());
  view.begin_generation();
  StoppedStacks stacks;
  for (const StoppedThread& thread : stopped->threads())
    stacks.threads.push_back({thread.tid, Address{thread.registers.rsp},
                              view.read_stack(register_set(thread.registers), thread.registers.fs_base)});
  stacks.stopped_ns = stopped->resume_ns();
  return stacks;
}

}  // namespace nodescope
