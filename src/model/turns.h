#pragma once

#include <cstdint>
#include <string_view>

namespace nodescope {

// The fact of a recording in which every long turn of the event loops has a marker of the kind kStall.
inline constexpr std::string_view kTurnsFact = "event loop";
inline constexpr std::string_view kTurnsMeasured = "turns measured";

// How the marker of a time begins in which libuv's pool had no thread left.
inline constexpr std::string_view kFullPoolMark = "libuv's pool is full";

// Shorter turns have none.
inline constexpr std::int64_t kLeastTurnNs = 10'000'000;

}  // namespace nodescope
