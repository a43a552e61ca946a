#pragma once

#include "app/core/session.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

// What the async functions wait for, and who waits for them; all of the chains where `all`.
Result<void> write_core_awaits(CoreSession& session, bool json, bool all, ByteSink& sink);

}  // namespace nodescope
