#pragma once

#include <cstdint>
#include <vector>

namespace nodescope {

// What every group has anywhere on its stacks, recursion counted once: node `i` of a trie (node 0 is the
// root, parents before children) belongs to group_of[i] and has self[i].  kNoGroup belongs to none.
constexpr std::uint32_t kNoGroup = UINT32_MAX;

std::vector<std::uint64_t> sum_group_totals(const std::vector<std::uint32_t>& parents,
                                            const std::vector<std::uint32_t>& group_of,
                                            const std::vector<std::uint64_t>& self, std::size_t group_count);

}  // namespace nodescope
