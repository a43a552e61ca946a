#pragma once

#include "app/core/session.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

// What the event loops wait for, with the objects of JavaScript to which it belongs, and the timers of
// JavaScript, all of which share one handle.  Of a session that is held.
Result<void> write_handles(CoreSession& session, bool json, ByteSink& sink);

// What was asked of the system and is not answered yet.
Result<void> write_requests(CoreSession& session, bool json, ByteSink& sink);

}  // namespace nodescope
