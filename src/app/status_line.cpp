#include "app/status_line.h"

#include <fmt/format.h>

#include <utility>

#include "app/note.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kInterval{500};

}  // namespace

StatusLine::StatusLine(std::optional<double> seconds, std::function<std::string(double elapsed)> text)
    : seconds_(seconds),
      text_(std::move(text)),
      enabled_(standard_error_is_terminal()),
      begin_(Clock::now()),
      last_(begin_) {}

StatusLine::~StatusLine() {
  if (shown_) note("\r\033[K");
}

void StatusLine::show() {
  if (!enabled_ || Clock::now() - last_ < kInterval) return;
  last_ = Clock::now();
  shown_ = true;
  const double elapsed = std::chrono::duration<double>(last_ - begin_).count();
  note_at_once("\r\033[K{:.0f} s{} · {}", elapsed, seconds_ ? fmt::format(" of {:.0f} s", *seconds_) : "",
               text_(elapsed));
}

}  // namespace nodescope
