#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "formats/cpuprofile/profiler_run.h"
#include "formats/trace_events/gc_markers.h"
#include "json/reader.h"
#include "model/profile.h"

namespace nodescope {

// A thread as the events name it.
struct TraceThread {
  std::int32_t pid = 0;
  std::int32_t tid = 0;

  std::uint64_t key() const {
    return std::uint64_t{static_cast<std::uint32_t>(pid)} << 32 | static_cast<std::uint32_t>(tid);
  }
};

// Reads all events and builds a profile of them.  Keys come in any order, so an event is first read whole and
// then used; of its arguments only those are kept that one of the events below has.
class TraceReader {
 public:
  TraceReader(ByteSource& source, Progress* progress);

  Result<Profile> read();

 private:
  // A part of a CPU profile: ProfileChunk has the nodes and samples since the chunk before.
  struct Chunk {
    std::int64_t time_ns = 0;
    V8CallTree tree;
    std::vector<std::uint32_t> samples;
    std::vector<std::int64_t> deltas_ns;
    std::optional<std::int64_t> start_ns;
    std::optional<std::int64_t> end_ns;
  };
  // A CPU profile: "Profile" starts it, every "ProfileChunk" of the same process and id adds to it.  Older
  // traces have it whole, in "CpuProfile".
  struct TracedRun {
    TraceThread thread;
    V8CallTree tree;
    std::vector<Chunk> chunks;
    std::optional<std::int64_t> start_ns;
    std::optional<std::int64_t> end_ns;
  };
  struct Event {
    std::string name;
    std::string id;
    char phase = 0;
    TraceThread thread;
    std::int64_t time_ns = 0;
    std::int64_t duration_ns = 0;
    std::string name_argument;  // args.name
    std::string node_argument;  // args.node
    Chunk chunk;                // args.data
  };

  void read_events();
  void read_event();
  void read_member(std::string_view key);
  void read_id();
  void read_arguments();
  void read_data();
  void read_cpu_profile();
  void read_chunk_member(std::string_view key);
  void clear_event();

  void use_event();
  void start_run();
  void add_chunk();
  TracedRun& run_of_event();

  void build();
  void build_run(TracedRun& traced);
  ThreadId thread_of(TraceThread thread);

  ByteSource& source_;
  json::Reader reader_;
  Profile profile_;
  Event event_;
  bool in_event_ = false;
  std::uint64_t events_ = 0;
  std::vector<TracedRun> runs_;
  FlatMap<std::string, std::size_t> run_indices_;  // by process and id
  GcMarkers gc_markers_;
  FlatMap<std::uint64_t, std::string> thread_names_;
  FlatMap<std::uint64_t, std::string> process_names_;  // by pid
};

}  // namespace nodescope
