#include "render/flame_layout.h"

#include <algorithm>
#include <cmath>

namespace nodescope {

namespace {

constexpr double kLegendHeight = 20;

// A hundredth of the narrowest box, so that its neighbours still line up when it fills the screen; but no
// more units in the whole than a browser's 32-bit floats tell apart.
std::uint64_t units_per_pixel_for(const FlameOptions& options) {
  if (options.min_width.percent || options.min_width.value >= 0.1 || options.width > 4'000) return 1'000;
  return 10'000;
}

}  // namespace

FlameLayout::FlameLayout(const CallTree& tree, const FlameOptions& options, bool has_legend)
    : inverted_(options.inverted), row_height_(options.row_height) {
  const auto actual = static_cast<double>(tree.total());
  total_ignored_ = options.total && *options.total > 0 && *options.total < actual;
  total_ = options.total && *options.total >= actual ? *options.total : actual;

  cut_ = tree.depth() >= kMaxFlameRows;
  rows_ = std::min(tree.depth() + 1, kMaxFlameRows);
  frames_width_ = options.width - 2 * kPad;
  units_ = units_per_pixel_for(options) * static_cast<std::uint64_t>(frames_width_);

  // flamegraph.pl's margins.
  frames_top_ = options.font_size * (options.subtitle.empty() ? 3 : 5);
  const double bottom = options.font_size * 2 + 10;
  const double frames_bottom = frames_top_ + frames_height();
  details_baseline_ = frames_bottom + bottom / 2;
  legend_baseline_ = frames_bottom + bottom + kLegendHeight / 2;
  image_height_ = frames_bottom + bottom + (has_legend ? kLegendHeight : 0);
}

std::uint64_t FlameLayout::unit_at(std::uint64_t position) const {
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(position) / total_ * static_cast<double>(units_)));
}

}  // namespace nodescope
