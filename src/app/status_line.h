#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace nodescope {

// How a recording goes, on one line of a terminal's standard error: "12 s of 30 s · …".  Leaves nothing
// behind, and does nothing where standard error is not a terminal.
class StatusLine {
 public:
  // `text` says what follows the time.
  StatusLine(std::optional<double> seconds, std::function<std::string(double elapsed)> text);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // To be called often: it is written twice a second.
  void show();

 private:
  std::optional<double> seconds_;
  std::function<std::string(double elapsed)> text_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace nodescope
