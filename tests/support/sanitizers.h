#pragma once

namespace nodescope::testing {

// It has a thread of its own, and reports what a signal handler allocates.
#if defined(__has_feature)
constexpr bool kHasThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kHasThreadSanitizer = false;
#endif

}  // namespace nodescope::testing
