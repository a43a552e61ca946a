#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/check.h"
#include "capture/turn_tracker.h"
#include "target/core_process.h"
#include "target/event_loops.h"
#include "target/loop_handles.h"

// The input as the memory of a process: code, a loop, its account, the end of a stack, and readings that
// follow.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)loaded_address(bytes, FileAddress{0x1000});
  (void)returned_constant(bytes);
  (void)loaded_member(bytes);
  if (const auto head = parse_loop_head(bytes)) NODESCOPE_CHECK(head->backend_fd >= 0);
  (void)has_own_handle(bytes, Address{0x1000});
  const std::vector<pid_t> threads = {1, 2, 3};
  const pid_t owner = owner_of_stack(bytes, Address{0x7f0000000000 + size}, threads);
  NODESCOPE_CHECK(owner >= 0 && owner <= 3);
  if (size == 0) return 0;
  const LoopLayout layout{(data[0] & 1) != 0 ? 0x013401u : 0x012c02u, 0x220};
  (void)parse_account(layout, bytes);

  constexpr Address kBegin{0x10000};
  DeadMemory memory;
  memory.set_pieces({{{kBegin, kBegin + size}, bytes.data()}});
  if (const auto loop = read_handle_loop(memory, layout, kBegin))
    NODESCOPE_CHECK(!loop->handles.empty() && loop->handles.size() <= size / 8 + 1);

  TurnTracker tracker(layout.counts_turns(), 1);
  for (std::size_t at = 1; at + 40 <= size; at += 40) {
    std::uint64_t words[5];
    std::memcpy(words, data + at, sizeof words);
    tracker.add({words[0], {words[1], words[2], words[3]}, {words[4], words[4] / 2}});
  }
  for (const Turn& turn : tracker.take_turns()) {
    NODESCOPE_CHECK(turn.end_ns >= turn.begin_ns);
    (void)waiting_text(turn);
  }
  const LoopTicks ticks = tracker.take_ticks();
  NODESCOPE_CHECK(ticks.p50_ns <= ticks.max_ns && ticks.p99_ns <= ticks.max_ns);
  return 0;
}
