#include "render/flame_colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace nodescope {

namespace {

constexpr auto kPaletteNames = std::to_array<std::pair<std::string_view, Palette>>({
    {"auto", Palette::kAuto},
    {"kind", Palette::kKind},
    {"hot", Palette::kHot},
    {"mem", Palette::kMem},
    {"io", Palette::kIo},
    {"wakeup", Palette::kWakeup},
    {"chain", Palette::kChain},
    {"java", Palette::kJava},
    {"js", Palette::kJs},
    {"perl", Palette::kPerl},
    {"red", Palette::kRed},
    {"green", Palette::kGreen},
    {"blue", Palette::kBlue},
    {"aqua", Palette::kAqua},
    {"yellow", Palette::kYellow},
    {"purple", Palette::kPurple},
    {"orange", Palette::kOrange},
});

// Calls `visit` with every code point; a byte that is not part of valid UTF-8 counts as itself.
void visit_code_points(std::string_view text, const auto& visit) {
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char lead = byte_at(i);
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    char32_t code_point = length == 1 ? lead : lead & (0x7Fu >> length);
    bool valid = i + length <= text.size();
    for (std::size_t k = 1; valid && k < length; ++k) {
      valid = (byte_at(i + k) & 0xC0u) == 0x80u;
      code_point = code_point << 6 | (byte_at(i + k) & 0x3Fu);
    }
    visit(valid ? code_point : char32_t{lead});
    i += valid ? length : 1;
  }
}

std::u32string code_points(std::string_view text) {
  std::u32string result;
  visit_code_points(text, [&](char32_t c) { result += c; });
  return result;
}

// The generator behind Perl's rand: 48 bits, linear congruential.
constexpr std::uint64_t kRandomMask = (std::uint64_t{1} << 48) - 1;

std::uint64_t seed_random(std::uint32_t seed) {
  return (std::uint64_t{seed} << 16) + 0x330E;
}

std::uint64_t step_random(std::uint64_t state) {
  return (state * 0x5DEECE66Du + 0xB) & kRandomMask;
}

double random_fraction(std::uint64_t state) {
  return static_cast<double>(state) / static_cast<double>(kRandomMask + 1);
}

// flamegraph.pl's default: the first random number after seeding with the sum of the characters.
double shade_by_sum(std::string_view name) {
  std::uint32_t sum = 0;
  visit_code_points(name, [&](char32_t c) { sum += static_cast<std::uint32_t>(c); });
  return random_fraction(step_random(seed_random(sum)));
}

// flamegraph.pl's --hash: the first three characters, the earlier the heavier.
double shade_by_hash(std::u32string_view name) {
  if (const std::size_t quote = name.substr(std::min<std::size_t>(1, name.size())).find(U'`');
      quote != std::u32string_view::npos) {
    name.remove_prefix(quote + 2);
  }
  double vector = 0;
  double weight = 1;
  double most = 1;
  unsigned modulus = 10;
  for (const char32_t c : name) {
    vector += static_cast<double>(c % modulus) / (modulus - 1) * weight;
    ++modulus;
    most += weight;
    weight *= 0.70;
    if (modulus > 12) break;
  }
  return 1 - vector / most;
}

std::uint8_t shade(int base, int spread, double value) {
  return static_cast<std::uint8_t>(base + static_cast<int>(spread * value));
}

bool has_annotation(std::string_view name, std::string_view annotation) {
  return name.ends_with(annotation);
}

Palette java_palette(std::string_view name, FrameKind kind, bool inlined) {
  constexpr auto kPackages =
      std::to_array<std::string_view>({"java/", "javax/", "jdk/", "net/", "org/", "com/", "io/", "sun/"});
  if (kind == FrameKind::kJs || has_annotation(name, "_[j]"))
    return inlined ? Palette::kAqua : Palette::kGreen;
  if (inlined || has_annotation(name, "_[i]")) return Palette::kAqua;
  const std::string_view path = name.starts_with('L') ? name.substr(1) : name;
  if (std::ranges::any_of(kPackages, [&](std::string_view package) { return path.starts_with(package); }) ||
      std::ranges::any_of(kPackages, [&](std::string_view package) { return name.starts_with(package); })) {
    return Palette::kGreen;
  }
  if (name.find(":::") != std::string_view::npos) return Palette::kGreen;
  if (kind == FrameKind::kKernel) return Palette::kOrange;
  if (name.find("::") != std::string_view::npos) return Palette::kYellow;
  return has_annotation(name, "_[k]") ? Palette::kOrange : Palette::kRed;
}

Palette perl_palette(std::string_view name, FrameKind kind) {
  if (kind == FrameKind::kKernel) return Palette::kOrange;
  if (name.find("::") != std::string_view::npos) return Palette::kYellow;
  if (name.find("Perl") != std::string_view::npos || name.find(".pl") != std::string_view::npos)
    return Palette::kGreen;
  return has_annotation(name, "_[k]") ? Palette::kOrange : Palette::kRed;
}

Palette js_palette_by_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (has_annotation(name, "_[j]")) return slash != std::string_view::npos ? Palette::kGreen : Palette::kAqua;
  if (name.find("::") != std::string_view::npos) return Palette::kYellow;
  if (slash != std::string_view::npos && name.find(".js", slash + 1) != std::string_view::npos)
    return Palette::kGreen;
  if (name.find(':') != std::string_view::npos) return Palette::kAqua;
  if (name == " ") return Palette::kGreen;
  return name.find("_[k]") != std::string_view::npos ? Palette::kOrange : Palette::kRed;
}

Palette js_palette(std::string_view name, FrameKind kind) {
  switch (kind) {
    case FrameKind::kJs:
    case FrameKind::kWasm:
      return Palette::kGreen;
    case FrameKind::kBuiltin:
    case FrameKind::kRegExp:
      return Palette::kAqua;
    case FrameKind::kKernel:
      return Palette::kOrange;
    case FrameKind::kNative:
    case FrameKind::kGc:
      return name.find("::") != std::string_view::npos ? Palette::kYellow : Palette::kRed;
    case FrameKind::kUnknown:
      break;
  }
  return js_palette_by_name(name);
}

// Palettes that choose among the plain ones by name.
Palette plain_palette(Palette palette, std::string_view name, FrameKind kind, bool inlined) {
  switch (palette) {
    case Palette::kJava:
      return java_palette(name, kind, inlined);
    case Palette::kPerl:
      return perl_palette(name, kind);
    case Palette::kJs:
      return js_palette(name, kind);
    case Palette::kWakeup:
      return Palette::kAqua;
    case Palette::kChain:
      return name.find("_[w]") != std::string_view::npos ? Palette::kAqua : Palette::kBlue;
    default:
      return palette;
  }
}

}  // namespace

std::optional<Palette> palette_of(std::string_view name) {
  const auto found = std::ranges::find(kPaletteNames, name, [](const auto& entry) { return entry.first; });
  if (found == kPaletteNames.end()) return std::nullopt;
  return found->second;
}

std::string_view to_string(Palette palette) {
  return std::ranges::find(kPaletteNames, palette, [](const auto& entry) { return entry.second; })->first;
}

std::optional<Rgb> parse_colour(std::string_view text) {
  const auto hex = [](std::string_view digits) { return parse_number<std::uint8_t>(digits, 16); };
  if (text.starts_with('#') && text.size() == 7) {
    const auto red = hex(text.substr(1, 2));
    const auto green = hex(text.substr(3, 2));
    const auto blue = hex(text.substr(5, 2));
    if (red && green && blue) return Rgb{*red, *green, *blue};
  } else if (text.starts_with('#') && text.size() == 4) {
    std::string wide = "#";
    for (const char digit : text.substr(1)) wide += {digit, digit};
    return parse_colour(wide);
  } else if (text.starts_with("rgb(") && text.ends_with(')')) {
    const std::string_view inside = text.substr(4, text.size() - 5);
    const std::size_t first = inside.find(',');
    const std::size_t second = first == std::string_view::npos ? first : inside.find(',', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const auto red = parse_number<std::uint8_t>(inside.substr(0, first));
    const auto green = parse_number<std::uint8_t>(inside.substr(first + 1, second - first - 1));
    const auto blue = parse_number<std::uint8_t>(inside.substr(second + 1));
    if (red && green && blue) return Rgb{*red, *green, *blue};
  }
  return std::nullopt;
}

ConsistentPalette parse_palette_map(std::string_view text) {
  ConsistentPalette palette;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    // A name may contain an arrow ("Foo::operator->"); the last one is ours.
    const std::size_t arrow = line.rfind("->");
    if (arrow == std::string_view::npos) continue;
    if (const auto colour = parse_colour(line.substr(arrow + 2)))
      palette[std::string(line.substr(0, arrow))] = *colour;
  }
  return palette;
}

std::string write_palette_map(const ConsistentPalette& palette) {
  std::string text;
  for (const auto& [name, colour] : palette) {
    if (name.find('\n') != std::string::npos) continue;
    text += fmt::format("{}->rgb({},{},{})\n", name, colour.red, colour.green, colour.blue);
  }
  return text;
}

FlameColours::Shades FlameColours::shades_of(std::string_view name) {
  switch (shade_) {
    case Shade::kByHash: {
      const std::u32string forward = code_points(name);
      const std::u32string backward(forward.rbegin(), forward.rend());
      const double second = shade_by_hash(backward);
      return {shade_by_hash(forward), second, second};
    }
    case Shade::kRandom: {
      const double first = next_random();
      const double second = next_random();
      return {first, second, next_random()};
    }
    case Shade::kByName:
      break;
  }
  const double value = shade_by_sum(name);
  return {value, value, value};
}

double FlameColours::next_random() {
  random_state_ = step_random(random_state_ & kRandomMask);
  return random_fraction(random_state_);
}

Rgb FlameColours::colour_of(std::string_view name, FrameKind kind, bool inlined) {
  const auto [v1, v2, v3] = shades_of(name);
  switch (plain_palette(palette_, name, kind, inlined)) {
    case Palette::kMem:
      return {0, shade(190, 50, v2), shade(0, 210, v1)};
    case Palette::kIo:
      return {shade(80, 60, v1), shade(80, 60, v1), shade(190, 55, v2)};
    case Palette::kRed:
      return {shade(200, 55, v1), shade(50, 80, v1), shade(50, 80, v1)};
    case Palette::kGreen:
      return {shade(50, 60, v1), shade(200, 55, v1), shade(50, 60, v1)};
    case Palette::kBlue:
      return {shade(80, 60, v1), shade(80, 60, v1), shade(205, 50, v1)};
    case Palette::kYellow:
      return {shade(175, 55, v1), shade(175, 55, v1), shade(50, 20, v1)};
    case Palette::kPurple:
      return {shade(190, 65, v1), shade(80, 60, v1), shade(190, 65, v1)};
    case Palette::kAqua:
      return {shade(50, 60, v1), shade(165, 55, v1), shade(165, 55, v1)};
    case Palette::kOrange:
      return {shade(190, 65, v1), shade(90, 65, v1), 0};
    default:
      return {shade(205, 50, v3), shade(0, 230, v1), shade(0, 55, v2)};  // hot
  }
}

}  // namespace nodescope
