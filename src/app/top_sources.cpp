#include "app/top_sources.h"

#include "analysis/stack_copy.h"

namespace nodescope {

namespace {

Frame copy_frame(const Profile& from, Frame frame, Profile& into) {
  for (StringId* text : {&frame.function, &frame.file, &frame.module, &frame.generated})
    *text = into.strings.intern(from.text(*text));
  return frame;
}

}  // namespace

void TopSources::learn_frames(const Profile& profile) {
  if (frames_.size() == profile.frames.size()) return;
  Profile fresh;
  std::vector<FrameId> ids;
  for (std::size_t i = frames_.size(); i < profile.frames.size(); ++i)
    ids.push_back(fresh.frames.intern(copy_frame(profile, profile.frames[FrameId{i}], fresh)));
  // What cannot be led to its source is shown as it is.
  static_cast<void>(maps_.apply(fresh));
  for (const FrameId id : ids)
    frames_.push_back(known_.frames.intern(copy_frame(fresh, fresh.frames[id], known_)));
}

Profile TopSources::window(const Profile& profile, std::size_t first_sample) {
  learn_frames(profile);
  Profile window;
  window.facts = profile.facts;
  for (const Event& event : profile.events()) window.intern_event(profile.text(event.name), event.unit);

  const SampleTable& samples = profile.samples;
  std::vector<bool> used(profile.stacks.size());
  for (std::size_t i = first_sample; i < samples.size(); ++i) used[samples.stack(i).index()] = true;
  for (std::size_t i = used.size(); i-- > 1;) {
    if (used[i]) used[profile.stacks.caller(StackId{i}).index()] = true;
  }
  std::vector<StackId> stacks(profile.stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    if (!used[i]) continue;
    const Frame& frame = known_.frames[frames_[profile.stacks.frame(StackId{i}).index()]];
    const FrameId copied = window.frames.intern(copy_frame(known_, frame, window));
    stacks[i] = window.stacks.push(stacks[profile.stacks.caller(StackId{i}).index()], copied);
  }
  for (std::size_t i = first_sample; i < samples.size(); ++i) {
    SampleContext context = samples.context(i);
    context.thread = copy_thread(profile, context.thread, window);
    window.samples.add({samples.time_ns(i), stacks[samples.stack(i).index()], context, samples.weight(i)});
  }
  return window;
}

}  // namespace nodescope
