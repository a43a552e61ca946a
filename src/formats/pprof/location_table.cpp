#include "formats/pprof/location_table.h"

#include <array>

#include "base/text.h"
#include "formats/pprof/function_name.h"

namespace nodescope::pprof {

namespace {

// More functions than any compiler inlines at one place; a reader of ours takes 1,024.
constexpr std::size_t kMaxInlined = 256;

// Nothing but a module is known.  pprof shows a location without lines by the name of its mapping.
bool is_blank(const Frame& frame) {
  Frame blank;
  blank.module = frame.module;
  return frame == blank;
}

}  // namespace

std::uint64_t StringWriter::intern(std::string_view text) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  if (!is_valid_utf8(text)) return intern(to_valid_utf8(text));
  texts_.emplace_back(text);
  ids_.emplace(texts_.back(), texts_.size() - 1);
  return texts_.size() - 1;
}

LocationTable::LocationTable(const Profile& profile, StringWriter& strings)
    : profile_(profile), strings_(strings), steps_(profile.stacks.size()) {
  for (const Mapping& mapping : profile.mappings) {
    mappings_.push_back({mapping.start, mapping.end, mapping.file_offset,
                         strings_.intern(profile.text(mapping.file)),
                         strings_.intern(profile.text(mapping.build_id))});
    mapping_ids_.try_emplace(mapping.file.value, mappings_.size());
  }
}

void LocationTable::unwind(StackId stack, std::vector<std::uint64_t>& ids) {
  ids.clear();
  while (stack != kEmptyStack) {
    const Step& next = step(stack);
    ids.push_back(next.location_id);
    stack = next.callers;
  }
}

const LocationTable::Step& LocationTable::step(StackId stack) {
  Step& known = steps_[stack.index()];
  if (known.location_id != 0) return known;
  group_.clear();
  const StringId module = profile_.frames[profile_.stacks.frame(stack)].module;
  for (;;) {
    const FrameId frame = profile_.stacks.frame(stack);
    group_.push_back(frame);
    stack = profile_.stacks.caller(stack);
    const bool goes_on =
        profile_.frames[frame].inlined && stack != kEmptyStack && group_.size() < kMaxInlined;
    if (!goes_on || profile_.frames[profile_.stacks.frame(stack)].module != module) break;
  }
  known = {make_location(group_), stack};
  return known;
}

std::uint32_t LocationTable::make_location(const std::vector<FrameId>& frames) {
  const std::string_view key(reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(FrameId));
  const auto found = location_ids_.find(key);
  if (found != location_ids_.end()) return found->second;
  WrittenLocation location;
  location.mapping_id = mapping_of(profile_.frames[frames.front()].module);
  location.first_line = lines_.size();
  const bool blank = frames.size() == 1 && is_blank(profile_.frames[frames.front()]);
  for (std::size_t i = 0; i < frames.size() && !blank; ++i) {
    const Frame& frame = profile_.frames[frames[i]];
    lines_.push_back({function_of(frames[i], i + 1 < frames.size()), frame.line, frame.column});
  }
  location.line_count = lines_.size() - location.first_line;
  locations_.push_back(location);
  const auto id = static_cast<std::uint32_t>(locations_.size());
  location_ids_.emplace(std::string(key), id);
  return id;
}

std::uint64_t LocationTable::function_of(FrameId id, bool inlined) {
  const auto [known, added] =
      frame_functions_.try_emplace(std::uint64_t{id.value} << 1 | (inlined ? 1u : 0u), 0);
  if (!added) return known->second;
  const Frame& frame = profile_.frames[id];
  const FunctionNames names = names_of_frame(profile_, frame, inlined, scratch_);
  const std::array<std::uint64_t, 4> texts = {strings_.intern(names.name), strings_.intern(names.system_name),
                                              strings_.intern(profile_.text(frame.file)),
                                              frame.function_line};
  const std::string key(reinterpret_cast<const char*>(texts.data()), sizeof(texts));
  const auto [function, is_new] = function_ids_.try_emplace(key, functions_.size() + 1);
  if (is_new) functions_.push_back({texts[0], texts[1], texts[2], frame.function_line});
  known->second = function->second;
  return function->second;
}

std::uint64_t LocationTable::mapping_of(StringId module) {
  if (module == StringId{}) return 0;
  const auto [known, added] = mapping_ids_.try_emplace(module.value, mappings_.size() + 1);
  if (added) mappings_.push_back({.file = strings_.intern(profile_.text(module))});
  return known->second;
}

}  // namespace nodescope::pprof
