#include "app/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "app/note.h"
#include "base/text.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

constexpr std::chrono::milliseconds kFirstShown{500};
constexpr std::chrono::milliseconds kInterval{100};

std::string amount(const Progress& progress) {
  const std::uint64_t total = progress.total_bytes;
  if (total == 0) return human_bytes(progress.done_bytes);
  // A file that still grows has more than it had.
  const std::uint64_t done = std::min<std::uint64_t>(progress.done_bytes, total);
  return fmt::format("{} of {} ({:.0f} %)", human_bytes(done), human_bytes(total),
                     100.0 * static_cast<double>(done) / static_cast<double>(total));
}

}  // namespace

ProgressLine::ProgressLine(const Progress& progress, const std::string& doing)
    : progress_(progress), doing_(printable(doing)) {
  if (standard_error_is_terminal()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { show_until(stop); });
  }
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  if (shown_) note("\r\033[K");
}

void ProgressLine::show_until(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  auto wait = kFirstShown;
  while (!wake.wait_for(lock, stop, wait, [] { return false; }) && !stop.stop_requested()) {
    note("\r\033[K{}: {}", doing_, amount(progress_));
    std::fflush(stderr);
    shown_ = true;
    wait = kInterval;
  }
}

}  // namespace nodescope
