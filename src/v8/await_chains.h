#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "v8/async_objects.h"
#include "v8/async_reader.h"
#include "v8/request_ids.h"

namespace nodescope::v8 {

// What all async functions of a heap wait for.
struct AwaitChains {
  struct Chain {
    std::uint64_t count = 0;
    std::vector<std::uint32_t> places;  // innermost first
    std::string request;                // that the innermost works for; empty: not known, or not asked for
    bool is_circle = false;             // they wait for each other, for ever
  };

  std::vector<AsyncCaller> places;  // distinct ones
  std::vector<Chain> chains;        // most frequent first
  std::uint64_t suspended = 0;      // async functions and generators in an await
  std::uint64_t ready = 0;          // whose promise is settled: they go on soon
  std::uint64_t resting = 0;        // async generators that nobody has asked for a value
  std::uint64_t unreadable = 0;     // suspended, but of which function cannot be told
  bool has_more = false;            // than kMaxChains: not all were counted
};

constexpr std::size_t kMaxChains = 2'000'000;

// A chain begins at a function whose promise no other suspended function will settle, and goes on to whoever
// waits for it.  Where several wait there is a chain for each.  With `requests` chains of different requests
// are told apart.
AwaitChains derive_await_chains(AsyncReader& reader, const AsyncObjects& objects,
                                RequestIds* requests = nullptr);

}  // namespace nodescope::v8
