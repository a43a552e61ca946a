#pragma once

#include <cstdint>

#include "analysis/call_tree.h"
#include "render/flame_svg.h"

namespace nodescope {

// Deeper rows are not drawn.  A browser shows 10,000 rows as a page of 160,000 pixels.
constexpr std::uint32_t kMaxFlameRows = 10'000;

// Where everything is, in pixels unless said otherwise.  The boxes live in a coordinate system of their own:
// x in units of a fraction of a pixel, so that zooming is exact to what is drawn, and y in rows.
class FlameLayout {
 public:
  FlameLayout(const CallTree& tree, const FlameOptions& options, bool has_legend);

  // The sum that the full width stands for.
  double total() const { return total_; }
  bool total_ignored() const { return total_ignored_; }
  std::uint32_t rows() const { return rows_; }
  bool is_cut() const { return cut_; }

  double left() const { return kPad; }
  double frames_width() const { return frames_width_; }
  double frames_top() const { return frames_top_; }
  double frames_height() const { return rows_ * row_height_; }
  double image_height() const { return image_height_; }
  double legend_baseline() const { return legend_baseline_; }
  double details_baseline() const { return details_baseline_; }

  std::uint64_t units() const { return units_; }
  double units_per_pixel() const { return static_cast<double>(units_) / frames_width_; }
  std::uint64_t unit_at(std::uint64_t position) const;
  std::uint32_t row_of(std::uint32_t depth) const { return inverted_ ? depth : rows_ - 1 - depth; }

 private:
  static constexpr double kPad = 10;

  double total_ = 0;
  bool total_ignored_ = false;
  bool inverted_ = false;
  bool cut_ = false;
  std::uint32_t rows_ = 0;
  std::uint64_t units_ = 0;
  double row_height_ = 0;
  double frames_width_ = 0;
  double frames_top_ = 0;
  double image_height_ = 0;
  double details_baseline_ = 0;
  double legend_baseline_ = 0;
};

}  // namespace nodescope
