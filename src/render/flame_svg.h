#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/call_tree.h"
#include "base/byte_sink.h"
#include "base/result.h"
#include "render/flame_colours.h"

namespace nodescope {

struct MinWidth {
  double value = 0.1;
  bool percent = false;  // of the total; else in pixels

  bool operator==(const MinWidth&) const = default;
};

// "0.1" or "0.5%".
std::optional<MinWidth> parse_min_width(std::string_view text);

// What the colour of a box in a comparison shows.
enum class ChangeOf : std::uint8_t {
  kTotal,  // how much of itself the box has gained or lost, callees included: a caller of what grew has grown
  kSelf,   // flamegraph.pl: only the innermost function is coloured, relative to the largest change of all
};

// flamegraph.pl's options under its names; empty and unset ones have its defaults unless said otherwise.
struct FlameOptions {
  std::string title;     // "Flame Graph", "Icicle Graph", "Flame Chart"
  std::string subtitle;  // a second line
  std::uint32_t width = 1200;
  bool fluid = true;  // widens to its window when opened on its own; off where the user gave a width
  std::uint32_t row_height = 16;  // --height
  MinWidth min_width;
  std::string font_type;  // empty: the system's monospaced font for boxes, its sans-serif font around them
  double font_size = 12;
  double font_width = 0.59;  // of an average character, relative to font_size
  std::string count_name;    // empty: by unit, "samples", or times and bytes in words ("1.50 s", "3.2 MB")
  std::string name_type = "Function:";
  Palette palette = Palette::kAuto;
  std::string
      background;  // --bgcolors: yellow, blue, green, grey, #rrggbb; empty: follows the viewer, light or dark
  Shade shade = Shade::kByName;
  std::uint64_t random_seed = 1;
  bool consistent = false;  // --cp
  ConsistentPalette known;  // with `consistent`: what palette.map had
  bool inverted = false;    // the root on top
  bool negate = false;      // swap the hues of a comparison
  ChangeOf change = ChangeOf::kTotal;
  std::string notes;            // a comment inside the file
  std::optional<double> total;  // the sum that the full width stands for; ignored if it is too small
  double factor = 1;            // multiplies the counts shown
  std::string encoding;         // only UTF-8 is written; any other is refused
  std::string search_colour = "rgb(230,0,230)";
  // --nameattr: attributes for the boxes of a name: title, href, target.
  std::map<std::string, std::map<std::string, std::string>, std::less<>> name_attributes;

  bool operator==(const FlameOptions&) const = default;
};

struct FlameReport {
  std::uint64_t boxes = 0;
  std::uint32_t rows = 0;
  ConsistentPalette palette;  // with `consistent`: what palette.map shall have
  Diagnostics diagnostics;    // what was cut or ignored

  bool operator==(const FlameReport&) const = default;
};

// Fails with kUsage on an option that makes no sense.  Everything that an SVG needs, before any byte is
// written.
Result<void> check_flame_options(const FlameOptions& options);

// The smallest total that `options` draw, for CallTreeOptions::min_total.
std::uint64_t min_total(const FlameOptions& options, std::uint64_t total);

// An interactive SVG that needs nothing else.  Names are untrusted: they are only ever text, never markup,
// script or style. An empty tree is drawn as a message, as flamegraph.pl does.
Result<FlameReport> write_flame_svg(const CallTree& tree, const FlameOptions& options, ByteSink& sink);

// All in one: leaves out what is too narrow to be drawn before it costs anything.
Result<FlameReport> write_flame_svg(const Profile& profile, CallTreeOptions tree, const FlameOptions& options,
                                    ByteSink& sink);

}  // namespace nodescope
