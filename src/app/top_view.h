#pragma once

#include <cstddef>
#include <string>

#include "analysis/function_table.h"
#include "capture/sampling_session.h"
#include "model/profile.h"

namespace nodescope {

// What the user has chosen to see.
struct TopView {
  SortBy sort = SortBy::kSelf;
  bool by_thread = false;
  bool since_begin = false;  // all of it instead of the last seconds
  bool paused = false;
  bool typing_filter = false;
  std::string filter;  // only names that hold this text
};

// Changes the view as the key says.  False: the user wants to leave.
bool press_key(TopView& view, char key);

struct TopSize {
  std::size_t columns = 100;
  std::size_t rows = 24;
};

// The whole screen: a heading with shares and counts, the table, a line with the keys.
std::string top_text(const Profile& profile, const SamplingCounts& counts, const TopView& view,
                     std::size_t first_sample, TopSize size);

}  // namespace nodescope
