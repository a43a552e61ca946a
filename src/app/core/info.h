#pragma once

#include <optional>
#include <string>

#include "app/core/session.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

// Why the process ended, what it was, and how much of it the file has.
Result<void> write_core_info(CoreSession& session, bool json, ByteSink& sink);

// What it was started with: its environment.
Result<void> write_core_environment(CoreSession& session, bool json, ByteSink& sink);

// "SIGABRT"; "signal 99" where it has no name.
std::string signal_name(std::int32_t number);

}  // namespace nodescope
