#include "analysis/group_totals.h"

namespace nodescope {

std::vector<std::uint64_t> sum_group_totals(const std::vector<std::uint32_t>& parents,
                                            const std::vector<std::uint32_t>& group_of,
                                            const std::vector<std::uint64_t>& self, std::size_t group_count) {
  const std::size_t size = parents.size();
  std::vector<std::uint64_t> totals = self;
  std::vector<std::uint32_t> first_child(size, 0);
  std::vector<std::uint32_t> next_sibling(size, 0);
  for (std::size_t i = size; i-- > 1;) {
    totals[parents[i]] += totals[i];
    next_sibling[i] = first_child[parents[i]];
    first_child[parents[i]] = static_cast<std::uint32_t>(i);
  }

  // Depth first.  A node counts if its group is not open further out.
  std::vector<std::uint64_t> sums(group_count, 0);
  std::vector<std::uint32_t> open(group_count, 0);
  std::uint32_t node = first_child.empty() ? 0 : first_child[0];
  while (node != 0) {
    const std::uint32_t group = group_of[node];
    if (group != kNoGroup && open[group]++ == 0) sums[group] += totals[node];
    if (first_child[node] != 0) {
      node = first_child[node];
      continue;
    }
    while (node != 0) {
      if (group_of[node] != kNoGroup) --open[group_of[node]];
      if (next_sibling[node] != 0) {
        node = next_sibling[node];
        break;
      }
      node = parents[node];
    }
  }
  return sums;
}

}  // namespace nodescope
