// Whatever a snapshot holds, every question about it is answered with valid text, also where it is compared
// with another one.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "formats/heapsnapshot/heapsnapshot.h"
#include "page/heap/report.h"
#include "page/heap/session.h"

namespace nodescope {
namespace {

HeapGraph almost_empty() {
  HeapGraphBuilder builder;
  builder.add_node({HeapNodeType::kSynthetic, builder.intern(""), 1, 0});
  return *std::move(builder).finish();
}

page::HeapSession session_of(HeapGraph newest, const HeapGraph* older) {
  page::HeapSnapshots snapshots;
  snapshots.graph = std::make_unique<const HeapGraph>(std::move(newest));
  snapshots.heap = std::make_unique<const HeapAnalysis>(*snapshots.graph);
  if (older != nullptr) {
    snapshots.names.emplace_back("older");
    snapshots.older.emplace_back(HeapAnalysis(*older), snapshots.heap->interfaces());
  }
  snapshots.names.emplace_back("newest");
  return page::HeapSession(std::move(snapshots));
}

void check_reply(const std::string& reply) {
  std::uint32_t sizes[2] = {};
  NODESCOPE_CHECK(reply.size() >= sizeof(sizes));
  std::memcpy(sizes, reply.data(), sizeof(sizes));
  NODESCOPE_CHECK(sizes[0] == reply.size() && sizes[1] >= 2 && sizes[1] <= reply.size() - sizeof(sizes));
  const std::string_view json = std::string_view(reply).substr(sizeof(sizes), sizes[1]);
  NODESCOPE_CHECK(json.front() == '{' && is_valid_utf8(json));
}

void ask_all(const page::HeapSession& session) {
  constexpr std::size_t kMost = 60;
  const auto questions = page::questions_of_a_report(session);
  for (std::size_t i = 0; i < std::min(kMost, questions.size()); ++i) check_reply(session.ask(questions[i]));
}

}  // namespace
}  // namespace nodescope

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = [&] {
    MemorySource source(text, "fuzz");
    return read_heap_snapshot(source, {});
  };
  auto alone = read();
  if (!alone) return 0;
  ask_all(session_of(std::move(*alone), nullptr));
  const HeapGraph older = almost_empty();
  ask_all(session_of(*read(), &older));
  return 0;
}
