#pragma once

#include <string_view>

namespace nodescope {

// The program inside of every SVG.  It is the same for all: what differs is in attributes of the drawing.
extern const std::string_view kFlameScript;

// What every SVG looks like.  The gap between neighbours does not grow with the zoom; a viewer that cannot do
// that draws none.
extern const std::string_view kFlameStyle;
extern const std::string_view kFlameDarkStyle;

}  // namespace nodescope
