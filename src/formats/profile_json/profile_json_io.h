#pragma once

#include <array>
#include <string_view>

#include "formats/format.h"

namespace nodescope {

constexpr std::string_view kProfileJsonName = "nodescope-profile";
constexpr int kProfileJsonVersion = 1;

// In the order of Severity and MarkerKind.
constexpr std::array<std::string_view, 3> kSeverityNames = {"info", "warning", "error"};
constexpr std::array<std::string_view, 4> kMarkerKindNames = {"gc", "stall", "other", "lost"};

Result<Profile> read_profile_json(ByteSource& source, const ReadOptions& options);
Result<void> write_profile_json(const Profile& profile, const WriteOptions& options, ByteSink& sink);

}  // namespace nodescope
