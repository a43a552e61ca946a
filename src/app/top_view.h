#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
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
  bool has_ended = false;  // the processes have: there is no key to press any more
  std::string filter;      // only names that hold this text
  std::string loops;       // a line about the event loops; empty: none
};

// Changes the view as the key says.  False: the user wants to leave.
bool press_key(TopView& view, char key);

// Where in the samples the last seconds begin.
class SampleWindow {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // There is no sample at `begin`.
  SampleWindow(Time begin, std::chrono::duration<double> length) : length_(length), marks_{{begin, 0}} {}

  // The first sample of the window that ends now, when there are `samples`.
  std::size_t first_sample(Time now, std::size_t samples);

 private:
  struct Mark {
    Time time;
    std::size_t samples = 0;
  };
  std::chrono::duration<double> length_;
  std::deque<Mark> marks_;
};

struct TopSize {
  std::size_t columns = 100;
  std::size_t rows = 24;
};

// The whole screen: a heading with shares and counts, the table, a line with the keys.
std::string top_text(const Profile& profile, const SamplingCounts& counts, const TopView& view,
                     std::size_t first_sample, TopSize size);

}  // namespace nodescope
