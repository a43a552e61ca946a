#include "formats/heapsnapshot/trace_tree.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace nodescope {

namespace {

constexpr std::size_t kNumbers = 4;  // before the children

// An integer of the text; digits beyond 64 bits are lost.
std::uint64_t take_number(TextWindow& window) {
  std::uint64_t value = 0;
  while (!window.view().empty() || window.more()) {
    const char c = window.view().front();
    if (c < '0' || c > '9') break;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
    window.consume(1);
  }
  return value;
}

}  // namespace

Result<std::vector<HeapTraceNode>> read_trace_tree(TextWindow& window) {
  std::vector<HeapTraceNode> tree;
  std::vector<std::uint32_t> path;  // the nodes whose children are being read
  std::array<std::uint64_t, kNumbers> numbers{};
  std::size_t filled = 0;
  const auto wrong = [&] {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("not a tree of allocations at byte {}", window.offset()));
  };
  if (!window.take('[')) return wrong();
  while (true) {
    const char next = window.peek();
    if (next >= '0' && next <= '9') {
      if (filled == kNumbers) return wrong();
      numbers[filled++] = take_number(window);
      continue;
    }
    if (window.view().empty()) return fail(ErrorCode::kInvalidInput, "the file ends in the middle");
    window.consume(1);
    if (next == ',') continue;
    if (next == '[' && filled == kNumbers) {
      const std::uint32_t caller = path.empty() ? 0 : path.back();
      path.push_back(static_cast<std::uint32_t>(tree.size()));
      tree.push_back({static_cast<std::uint32_t>(numbers[0]), static_cast<std::uint32_t>(numbers[1]),
                      numbers[2], numbers[3], caller});
      filled = 0;
    } else if (next == ']' && filled == 0) {
      if (path.empty()) return tree;
      path.pop_back();
    } else {
      return wrong();
    }
  }
}

}  // namespace nodescope
