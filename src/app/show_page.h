#pragma once

#include <cstdint>
#include <string>

#include "app/server/recordings.h"
#include "base/result.h"

namespace nodescope {

struct ShowOptions {
  std::uint16_t port = 0;  // 0: one that is free
  bool opens_browser = true;
};

// Serves the page until Ctrl-C: the address goes to standard output, what else is to know to standard error.
// Root's rights are given up first, for good.
Result<void> show_page(server::Recordings recordings, const ShowOptions& options);

// How `record` and `demo` end: with the page where somebody sits at a terminal with a browser, else with the
// command that shows it.  `path` is the recording on disk.
Result<void> end_with_page(const std::string& path, bool opens_browser);

}  // namespace nodescope
