#include "os/interrupt.h"

#include <array>
#include <cstddef>
#include <ctime>

namespace nodescope {

namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t g_requested = 0;

void request(int number) {
  if (g_requested != 0) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  g_requested = 1;
}

}  // namespace

InterruptRequest::InterruptRequest() {
  g_requested = 0;
  struct sigaction action{};
  action.sa_handler = request;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptRequest::~InterruptRequest() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
}

bool InterruptRequest::any_requested() {
  return g_requested != 0;
}

bool InterruptRequest::requested() const {
  return g_requested != 0;
}

void InterruptRequest::sleep_ms(int milliseconds) const {
  if (requested()) return;
  const timespec time{milliseconds / 1000, (milliseconds % 1000) * 1'000'000L};
  ::nanosleep(&time, nullptr);
}

}  // namespace nodescope
