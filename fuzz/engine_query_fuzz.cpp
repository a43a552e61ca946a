// Any question about a small recording is answered or refused: with a reply whose columns lie within it and
// whose text is valid.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "page/session.h"

namespace nodescope {
namespace {

Profile small_profile() {
  Profile profile;
  const EventId cpu = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const EventId other = profile.intern_event("faults", Unit::kCount);
  const ProcessId process = profile.intern_process(10, "node");
  const ThreadId main = profile.intern_thread(process, 10, "node");
  const ThreadId pool = profile.intern_thread(process, 11, "libuv-worker");
  profile.facts["rate"] = "100 Hz";
  for (int i = 0; i < 200; ++i) {
    StackId stack = kEmptyStack;
    for (int depth = 0; depth < i % 9; ++depth) {
      Frame frame;
      frame.kind = static_cast<FrameKind>((i / 10 + depth) % static_cast<int>(kFrameKindCount));
      frame.tier = static_cast<JsTier>(depth % 5);
      frame.function = profile.strings.intern("f" + std::to_string((i + depth) % 7));
      if (frame.kind == FrameKind::kJs)
        frame.file = profile.strings.intern(depth % 3 == 0 ? "node:fs" : "/app/x.js");
      frame.line = static_cast<std::uint32_t>(i % 5);
      stack = profile.stacks.push(stack, profile.frames.intern(frame));
    }
    const std::int64_t time = i == 199 ? INT64_MAX / 8 : 1'000'000'000 + std::int64_t{i} * 10'000'000;
    profile.samples.add({time, stack, {i % 5 == 0 ? pool : main, 0, i % 11 == 0 ? other : cpu}, 10'000'000});
  }
  profile.markers.push_back({1'100'000'000, 90'000'000, main, MarkerKind::kGc, profile.strings.intern("gc")});
  return profile;
}

std::uint32_t u32_at(const std::string& reply, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, reply.data() + at, sizeof(value));
  return value;
}

}  // namespace
}  // namespace nodescope

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  page::Session session;
  session.add("one", small_profile());
  session.add("two", small_profile());
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // Several questions, a line each: what is kept of one must not harm the next.
  for (int i = 0; i < 8 && !text.empty(); ++i) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string reply = session.ask(line);
    NODESCOPE_CHECK(reply.size() >= 8 && u32_at(reply, 0) == reply.size());
    const std::uint32_t json_bytes = u32_at(reply, 4);
    NODESCOPE_CHECK(json_bytes >= 2 && json_bytes <= reply.size() - 8);
    const std::string_view json = std::string_view(reply).substr(8, json_bytes);
    NODESCOPE_CHECK(json.front() == '{' && is_valid_utf8(json));
  }
  return 0;
}
