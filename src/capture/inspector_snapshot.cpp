#include "capture/inspector_snapshot.h"

#include "capture/inspector_gate.h"
#include "formats/heapsnapshot/heapsnapshot.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// V8 says every some thousand objects that it is at work; a collection of a large heap comes before that.
constexpr milliseconds kSilence{120'000};
constexpr std::size_t kHeadBytes = 4096;

milliseconds since(Clock::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
}

// Takes the events of a snapshot.
class SnapshotStream {
 public:
  SnapshotStream(ByteSink& sink, Progress& progress) : sink_(sink), progress_(progress) {}

  EventUse take(std::string_view method, const std::string& text) {
    if (method == "HeapProfiler.reportHeapSnapshotProgress") return EventUse::kWaitOn;
    if (method != "HeapProfiler.addHeapSnapshotChunk") return EventUse::kNone;
    const auto chunk = parse_snapshot_chunk(text);
    if (!chunk) return EventUse::kNone;
    if (head_.size() < kHeadBytes) head_ += chunk->substr(0, kHeadBytes);
    bytes_ += chunk->size();
    progress_.done_bytes = bytes_;
    written_ = sink_.write(*chunk);
    return written_ ? EventUse::kWaitOn : EventUse::kGiveUp;
  }

  Result<void> check() const {
    if (!written_) return written_;
    if (!is_heap_snapshot(head_))
      return fail(ErrorCode::kInvalidInput, "what it has sent is no heap snapshot");
    return {};
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  ByteSink& sink_;
  Progress& progress_;
  std::string head_;
  std::uint64_t bytes_ = 0;
  Result<void> written_;
};

}  // namespace

Result<InspectorSnapshot> take_snapshot_by_inspector(pid_t pid, ByteSink& sink, Progress& progress,
                                                     std::function<bool()> given_up) {
  auto gate = InspectorGate::open(pid);
  if (!gate) return std::unexpected(gate.error());
  auto client = gate->connect();
  if (!client) return std::unexpected(client.error());
  SnapshotStream stream(sink, progress);
  client->on_event(
      [&](std::string_view method, const std::string& text) { return stream.take(method, text); });
  client->give_up_when(std::move(given_up));
  InspectorSnapshot snapshot{.address = host_with_port(gate->address()), .opened = gate->opened_by_us()};
  const auto begin = Clock::now();
  const auto reply = client->call("HeapProfiler.takeHeapSnapshot", R"({"reportProgress":true})", kSilence);
  snapshot.taking = since(begin);
  snapshot.bytes = stream.bytes();
  client->close();
  const auto closed = gate->close();
  snapshot.open_time = gate->open_time();
  if (auto checked = stream.check(); reply && !checked) return std::unexpected(checked.error());
  if (!reply) return std::unexpected(reply.error());
  if (!closed) return std::unexpected(closed.error());
  return snapshot;
}

}  // namespace nodescope
