#pragma once

#include <csignal>

namespace nodescope {

// While it lives, the first SIGINT, SIGTERM or SIGHUP is a request to come to an end; the second ends the
// program.  One that is ignored, as nohup does it, stays so.  There may be one at a time.
class InterruptRequest {
 public:
  InterruptRequest();
  ~InterruptRequest();
  InterruptRequest(const InterruptRequest&) = delete;
  InterruptRequest& operator=(const InterruptRequest&) = delete;

  bool requested() const;
  // Whether one came since the last of these objects was made, for code that does not know it.
  static bool any_requested();
  // Sleeps that long, or until a request comes.
  void sleep_ms(int milliseconds) const;

 private:
  struct sigaction before_[3]{};
};

}  // namespace nodescope
