#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/frame.h"

namespace nodescope {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  bool operator==(const Rgb&) const = default;
};

// flamegraph.pl's palettes, and kKind: one colour per kind of code and tier, light and dark.
enum class Palette : std::uint8_t {
  kAuto,  // kKind if the profile knows kinds, else kHot
  kKind,
  kHot,
  kMem,
  kIo,
  kWakeup,
  kChain,
  kJava,
  kJs,
  kPerl,
  kRed,
  kGreen,
  kBlue,
  kAqua,
  kYellow,
  kPurple,
  kOrange,
};

std::optional<Palette> palette_of(std::string_view name);
std::string_view to_string(Palette palette);

// How flamegraph.pl picks a shade for a name.
enum class Shade : std::uint8_t {
  kByName,  // its default: the same name has the same shade, similar names have not
  kByHash,  // --hash: similar names have similar shades
  kRandom,  // --random
};

// palette.map of --cp: the colour that each name had the last time.
using ConsistentPalette = std::map<std::string, Rgb, std::less<>>;

// "name->rgb(r,g,b)" lines.  Lines that are not understood are left out.
ConsistentPalette parse_palette_map(std::string_view text);
std::string write_palette_map(const ConsistentPalette& palette);

// "rgb(1,2,3)", "#rgb", "#rrggbb".
std::optional<Rgb> parse_colour(std::string_view text);

class FlameColours {
 public:
  FlameColours(Palette palette, Shade shade, std::uint64_t random_seed = 1)
      : palette_(palette), shade_(shade), random_state_(random_seed) {}

  // The colour that flamegraph.pl gives to `name`, which may end in _[j], _[i], _[k] or _[w].  `kind` and
  // `inlined` stand in for the annotation where the profile knows better.
  Rgb colour_of(std::string_view name, FrameKind kind, bool inlined);

 private:
  struct Shades {
    double v1 = 0;
    double v2 = 0;
    double v3 = 0;
  };
  Shades shades_of(std::string_view name);
  double next_random();

  Palette palette_;
  Shade shade_;
  std::uint64_t random_state_;
};

}  // namespace nodescope
