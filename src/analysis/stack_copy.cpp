#include "analysis/stack_copy.h"

#include <optional>

#include "analysis/code_origin.h"
#include "analysis/event_loop.h"
#include "model/name_marks.h"

namespace nodescope {

namespace {

// Copies frames and stacks from one profile to another, each at most once.
class StackCopier {
 public:
  StackCopier(const Profile& from, Profile& into) : from_(from), into_(into), frames_(from.frames.size()) {}

  // Frames that `selection` leaves out, so that what they call stands below their callers.
  void leave_out(const Selection& selection) { without_async_callers_ = selection.leave_out_async_callers; }
  bool leaves_out(FrameId id) const {
    return without_async_callers_ && is_async_caller(from_.text(from_.frames[id].function));
  }

  StringId copy(StringId text) { return into_.strings.intern(from_.text(text)); }

  FrameId copy(FrameId id) {
    std::optional<FrameId>& copied = frames_[id.index()];
    if (!copied) {
      Frame frame = from_.frames[id];
      frame.function = copy(frame.function);
      frame.file = copy(frame.file);
      frame.module = copy(frame.module);
      copied = into_.frames.intern(frame);
    }
    return *copied;
  }

 private:
  const Profile& from_;
  Profile& into_;
  bool without_async_callers_ = false;
  std::vector<std::optional<FrameId>> frames_;
};

// `used` and all their callers.
std::vector<bool> with_callers(const Profile& profile, std::vector<bool> used) {
  for (std::size_t i = used.size(); i-- > 1;) {
    if (used[i]) used[profile.stacks.caller(StackId{i}).index()] = true;
  }
  return used;
}

FrameKind kind_of(Origin origin) {
  switch (origin) {
    case Origin::kOwn:
    case Origin::kPackage:
    case Origin::kNode:
      return FrameKind::kJs;
    case Origin::kBuiltin:
      return FrameKind::kBuiltin;
    case Origin::kRegExp:
      return FrameKind::kRegExp;
    case Origin::kGc:
      return FrameKind::kGc;
    case Origin::kNative:
      return FrameKind::kNative;
    case Origin::kKernel:
      return FrameKind::kKernel;
    case Origin::kUnknown:
      break;
  }
  return FrameKind::kUnknown;
}

FrameId intern_cause(Profile& into, const CodeOrigin& cause) {
  Frame frame;
  frame.function = into.strings.intern(to_string(cause));
  frame.kind = kind_of(cause.origin);
  return into.frames.intern(frame);
}

// What lies between the last own frame and the end of a stack.
struct Below {
  StackId own;                         // the new stack up to the last own frame
  CodeOrigin cause{Origin::kOwn, {}};  // the nearest JavaScript that is not own; kOwn: there is none
  bool has_gc = false;
};

CodeOrigin cause_of(const Below& below, const CodeOrigin& innermost) {
  if (below.has_gc) return {Origin::kGc, {}};
  if (innermost.origin == Origin::kKernel || below.cause.origin == Origin::kOwn) return innermost;
  return below.cause;
}

// A stack while it is folded.
struct Folded {
  StackId whole;   // as it is, but from the phase on where that is known
  StackId folded;  // what JavaScript is put on
  LoopPhase phase = LoopPhase::kUnknown;
  bool any = false;  // frames that are folded away
  bool has_js = false;
};

// Not a function, so of no kind.
FrameId intern_phase(Profile& into, LoopPhase phase) {
  Frame frame;
  frame.function = into.strings.intern(to_string(phase));
  return into.frames.intern(frame);
}

std::vector<StackId> copy_whole_stacks(const Profile& from, Profile& into, const Selection& selection,
                                       const std::vector<bool>& sampled) {
  const std::vector<bool> used = with_callers(from, sampled);
  StackCopier copier(from, into);
  copier.leave_out(selection);
  std::vector<StackId> stacks(from.stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    if (!used[i]) continue;
    const StackId stack{i};
    const FrameId frame = from.stacks.frame(stack);
    const StackId caller = stacks[from.stacks.caller(stack).index()];
    stacks[i] = copier.leaves_out(frame) ? caller : into.stacks.push(caller, copier.copy(frame));
  }
  return stacks;
}

std::vector<StackId> copy_own_stacks(const Profile& from, Profile& into, const Selection& selection,
                                     const std::vector<bool>& sampled) {
  const std::vector<bool> used = with_callers(from, sampled);
  StackCopier copier(from, into);
  copier.leave_out(selection);
  std::vector<Below> below(from.stacks.size());
  std::vector<StackId> stacks(from.stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    if (!used[i]) continue;
    const StackId stack{i};
    const FrameId frame = from.stacks.frame(stack);
    const CodeOrigin origin = origin_of(from, from.frames[frame]);
    const std::size_t caller = from.stacks.caller(stack).index();
    Below here = below[caller];
    if (copier.leaves_out(frame)) {
      below[i] = here;
      stacks[i] = stacks[caller];
      continue;
    }
    if (origin.origin == Origin::kOwn) {
      here = {into.stacks.push(here.own, copier.copy(frame))};
      stacks[i] = here.own;
    } else {
      if (origin.origin == Origin::kPackage || origin.origin == Origin::kNode) here.cause = origin;
      here.has_gc = here.has_gc || origin.origin == Origin::kGc;
      if (sampled[i]) stacks[i] = into.stacks.push(here.own, intern_cause(into, cause_of(here, origin)));
    }
    below[i] = here;
  }
  return stacks;
}

std::vector<StackId> copy_folded_stacks(const Profile& from, Profile& into, const Selection& selection,
                                        const std::vector<bool>& sampled) {
  const std::vector<bool> used = with_callers(from, sampled);
  const std::vector<FrameRole> roles = derive_frame_roles(from);
  StackCopier copier(from, into);
  copier.leave_out(selection);
  std::vector<Folded> folded(from.stacks.size());
  std::vector<StackId> stacks(from.stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    if (!used[i]) continue;
    const StackId stack{i};
    const FrameId frame = from.stacks.frame(stack);
    const FrameRole role = roles[frame.index()];
    const std::size_t caller = from.stacks.caller(stack).index();
    Folded here = folded[caller];
    if (copier.leaves_out(frame)) {
      folded[i] = here;
      stacks[i] = stacks[caller];
      continue;
    }
    if (here.has_js) {
      if (!role.is_call_stub) here.folded = into.stacks.push(here.folded, copier.copy(frame));
      here.whole = here.folded;
    } else if (role.is_js) {
      const LoopPhase phase = role.phase != LoopPhase::kUnknown ? role.phase : here.phase;
      here.has_js = true;
      if (here.any) here.folded = into.stacks.push(here.folded, intern_phase(into, phase));
      here.folded = into.stacks.push(here.folded, copier.copy(frame));
      here.whole = here.folded;
    } else if (role.phase != LoopPhase::kUnknown) {
      here.phase = role.phase;
      here.any = true;
      here.whole = into.stacks.push(kEmptyStack, intern_phase(into, role.phase));
    } else {
      here.any = true;
      here.whole = into.stacks.push(here.whole, copier.copy(frame));
    }
    stacks[i] = here.whole;
    folded[i] = here;
  }
  return stacks;
}

}  // namespace

std::vector<StackId> copy_selected_stacks(const Profile& from, Profile& into, const Selection& selection,
                                          const std::vector<bool>& sampled) {
  if (selection.only_my_code) return copy_own_stacks(from, into, selection, sampled);
  if (selection.fold_event_loop) return copy_folded_stacks(from, into, selection, sampled);
  return copy_whole_stacks(from, into, selection, sampled);
}

std::vector<StackId> copy_stacks(const Profile& from, Profile& into, const std::vector<bool>& sampled) {
  return copy_whole_stacks(from, into, {}, sampled);
}

ProcessId copy_process(const Profile& from, ProcessId id, Profile& into) {
  const Process& process = from.process(id);
  return into.intern_process(process.pid, from.text(process.name));
}

ThreadId copy_thread(const Profile& from, ThreadId id, Profile& into) {
  const Thread& thread = from.thread(id);
  return into.intern_thread(copy_process(from, thread.process, into), thread.tid, from.text(thread.name));
}

}  // namespace nodescope
