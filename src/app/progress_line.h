#pragma once

#include <stop_token>
#include <string>
#include <thread>

#include "base/progress.h"

namespace nodescope {

// While it lives, and from half a second on, shows on a terminal's standard error how far `progress` is.
// Leaves nothing behind, and does nothing where standard error is not a terminal.
class ProgressLine {
 public:
  ProgressLine(const Progress& progress, const std::string& doing);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void show_until(const std::stop_token& stop);

  const Progress& progress_;
  std::string doing_;
  bool shown_ = false;
  std::jthread thread_;
};

}  // namespace nodescope
