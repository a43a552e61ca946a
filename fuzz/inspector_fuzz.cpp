#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "capture/coverage.h"
#include "capture/inspector_client.h"
#include "capture/inspector_place.h"
#include "net/http_get.h"
#include "unit/net/raw_peer.h"

// What a peer may say to the inspector engine.  The first byte tells where: as the text of one message, as
// the answer to a request, or as frames of a WebSocket.
namespace {

using namespace nodescope;
using std::chrono::milliseconds;

void read_texts(const std::string& text) {
  (void)parse_inspector_message(text);
  (void)parse_worker_event(text);
  (void)parse_snapshot_chunk(text);
  (void)text_in_result(text, "profile");
  (void)parse_target_path(text);
  (void)parse_inspector_url(text);
  (void)inspector_place_of(text, text);
  const auto scripts = parse_coverage(text);
  if (!scripts) return;
  for (const CoveredScript& script : *scripts) {
    const CoveredUnits units = count_units(flatten(script));
    if (units.run > units.all) __builtin_trap();
  }
}

void read_answer(std::string_view bytes) {
  net::Peer peer([&](int end) {
    net::read_request(end);
    net::say(end, bytes);
  });
  (void)net::http_get(peer.take(), "h", "/json/list", milliseconds(2000), 4096);
}

void read_frames(std::string_view bytes) {
  net::Peer peer([&](int end) {
    net::say(end, net::agreement(net::read_request(end)));
    net::say_last(end, bytes);
  });
  auto socket = net::WebSocket::connect(peer.take(), "h", "/", milliseconds(2000), 1 << 20);
  if (!socket) return;
  InspectorClient client(std::move(*socket));
  client.on_event([](std::string_view, const std::string&) { return EventUse::kNone; });
  (void)client.follow_workers();
  const auto call = client.send("Profiler.stop", "{}", "1");
  if (call) (void)client.await(*call, milliseconds(2000));
  (void)client.poll();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 3) {
    case 0:
      read_texts(std::string(rest));
      break;
    case 1:
      read_answer(rest);
      break;
    default:
      read_frames(rest);
  }
  return 0;
}
