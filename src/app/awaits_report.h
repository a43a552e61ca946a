#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_sink.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "binary/elf_file.h"
#include "v8/async_layout.h"
#include "v8/await_chains.h"
#include "v8/heap.h"
#include "v8/layout.h"
#include "v8/request_ids.h"

namespace nodescope {

// Where an async function waits, or a combinator.
struct WaitingPlace {
  std::string function;
  std::string file;
  v8::LineColumn place;
  bool is_combinator = false;
  std::int32_t index = -1;

  bool operator==(const WaitingPlace&) const = default;
};

// What all async functions of a process wait for.
struct AwaitsReport {
  std::string process;  // "Process 4711", "core.4711"
  std::optional<pid_t> pid;
  v8::BinaryVersions versions;
  std::optional<std::uint64_t> stopped_ns;  // of a running process
  v8::AwaitChains chains;
  std::vector<WaitingPlace> places;  // as those of chains
  Diagnostics diagnostics;

  // The same for both kinds of process: `objects` are in `heap`.  Adds chains, places and diagnostics.
  void add(v8::Heap& heap, const v8::AsyncLayout& layout, const v8::AsyncObjects& objects,
           v8::RequestIds* requests);
};

// kUnsupported where the promises of this V8 are not known.
Result<v8::AsyncLayout> require_async_layout(const ElfFile& binary, const v8::Layout& layout);

// The `top` most frequent chains; 0: all.
std::string awaits_text(const AwaitsReport& report, std::size_t top);
Result<void> write_awaits_json(const AwaitsReport& report, ByteSink& sink);

}  // namespace nodescope
