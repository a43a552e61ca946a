#include "model/frame.h"

#include <algorithm>
#include <array>

namespace nodescope {

namespace {

constexpr std::array<std::string_view, kFrameKindCount> kKindNames = {"unknown", "js", "native", "kernel",
                                                                      "builtin", "gc", "regexp", "wasm"};
constexpr std::array<std::string_view, 5> kTierNames = {"", "interpreted", "baseline", "maglev", "turbofan"};

template <typename Enum, std::size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view to_string(FrameKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}
std::string_view to_string(JsTier tier) {
  return kTierNames[static_cast<std::size_t>(tier)];
}
std::optional<FrameKind> frame_kind_of(std::string_view name) {
  return find_name<FrameKind>(kKindNames, name);
}
std::optional<JsTier> js_tier_of(std::string_view name) {
  return find_name<JsTier>(kTierNames, name);
}

std::uint64_t FrameHash::operator()(const Frame& frame) const {
  const auto pair = [](std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; };
  const auto flags = static_cast<std::uint32_t>(frame.kind) << 16 |
                     static_cast<std::uint32_t>(frame.tier) << 8 | static_cast<std::uint32_t>(frame.inlined);
  const std::uint64_t names = mix(pair(frame.function.value, frame.file.value), 0xA0761D6478BD642Fu);
  const std::uint64_t function =
      mix(pair(frame.function_line, frame.function_column) ^ names, 0x589965CC75374CC3u);
  const std::uint64_t place = mix(pair(frame.line, frame.column) ^ function, 0xE7037ED1A0B428DBu);
  return mix(pair(frame.module.value ^ frame.generated.value << 8, flags) ^ place, 0x8EBC6AF09C88C6E3u);
}

FrameId FrameTable::intern(const Frame& frame) {
  const auto [entry, added] = ids_.try_emplace(frame, FrameId{frames_.size()});
  if (added) frames_.push_back(frame);
  return entry->second;
}

bool FrameTable::replace(FrameId id, const Frame& frame) {
  if (!ids_.try_emplace(frame, id).second) return false;
  ids_.erase(frames_[id.index()]);
  frames_[id.index()] = frame;
  return true;
}

}  // namespace nodescope
