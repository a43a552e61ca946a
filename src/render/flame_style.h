#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/labels.h"
#include "render/flame_svg.h"

namespace nodescope {

// A background; null for a name that is not known.
struct Gradient {
  std::string_view name;
  std::string_view top;
  std::string_view bottom;
};
const Gradient* find_gradient(std::string_view name);

// Boxes are coloured by class where the colour has a dark twin: by kind of code, or by change in a
// comparison. A class is an index; its name in the SVG is class_name().
struct BoxClass {
  std::uint8_t index = 0;

  bool operator==(const BoxClass&) const = default;
};

// Kind, owner and tier: tiers are the density of the ink, not another hue.
BoxClass kind_class(const Label& label, FrameTraits traits);
std::size_t kind_class_count();

// From -1 (shrank most) over 0 to 1 (grew most).
BoxClass change_class(double change);
std::size_t change_class_count();

std::string_view class_name(BoxClass box_class);
std::string kind_css(bool with_dark);
std::string change_css(bool with_dark);

// What a kind class is called: "JavaScript, interpreted".
std::string_view kind_words(BoxClass box_class);

// The entry of the legend under which a class comes, or nothing: the tiers of one kind share theirs.
struct LegendEntry {
  BoxClass swatch;
  std::string_view words;
};
LegendEntry legend_entry(BoxClass kind);

}  // namespace nodescope
