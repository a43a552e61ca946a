#include "render/flame_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace nodescope {

namespace {

enum KindClass : std::uint8_t {
  kOwnTurbofan,
  kOwnMaglev,
  kOwnBaseline,
  kOwnInterpreted,
  kOther,
  kOtherBaseline,
  kOtherInterpreted,
  kBuiltin,
  kNative,
  kKernel,
  kGc,
  kRegExp,
  kWasm,
  kUnknown,
  kRoot,
  kKindClasses,
};

struct KindStyle {
  std::string_view light;
  std::string_view dark;
  std::string_view words;
  std::string_view legend;
  KindClass swatch;
};

// Text on any of them has a contrast of 4.5:1 or more, and no two kinds look alike to the colour-blind.
constexpr std::array<KindStyle, kKindClasses> kStyles = {{
    {"#7aaef1", "#345d9f", "JavaScript", "My JavaScript", kOwnTurbofan},
    {"#95bef4", "#2f528a", "JavaScript, Maglev", "My JavaScript", kOwnTurbofan},
    {"#b0cef7", "#2a4774", "JavaScript, baseline", "My JavaScript", kOwnTurbofan},
    {"#d9e7fb", "#223652", "JavaScript, interpreted", "My JavaScript", kOwnTurbofan},
    {"#dde7f1", "#374355", "library or Node JavaScript", "Libraries and Node", kOther},
    {"#e7eef5", "#303a4a", "library or Node JavaScript, baseline", "Libraries and Node", kOther},
    {"#eff3f8", "#2a323f", "library or Node JavaScript, interpreted", "Libraries and Node", kOther},
    {"#72d5ea", "#046f81", "V8 builtin", "V8 builtin", kBuiltin},
    {"#97d3a6", "#125239", "native", "Native", kNative},
    {"#b0b6bb", "#5b5d61", "kernel", "Kernel", kKernel},
    {"#f28b5c", "#954624", "garbage collection", "Garbage collection", kGc},
    {"#f3d75f", "#826000", "regular expression", "Regular expression", kRegExp},
    {"#be95c6", "#652e74", "WebAssembly", "WebAssembly", kWasm},
    {"#f1efe9", "#2b2a27", "not known", "Unknown", kUnknown},
    {"#eaecef", "#22272f", "", "", kRoot},
}};

// flamegraph.pl's backgrounds.
constexpr std::array<Gradient, 4> kGradients = {{
    {"yellow", "#eeeeee", "#eeeeb0"},
    {"blue", "#eeeeee", "#e0e0ff"},
    {"green", "#eef2ee", "#e0ffe0"},
    {"grey", "#f8f8f8", "#e8e8e8"},
}};

struct ChangeColours {
  Rgb same;
  Rgb grew;
  Rgb shrank;
};

constexpr ChangeColours kLightChange = {{0xe9, 0xec, 0xf0}, {0xf0, 0x64, 0x5a}, {0x6b, 0x9b, 0xf2}};
constexpr ChangeColours kDarkChange = {{0x2c, 0x33, 0x3d}, {0xb8, 0x32, 0x2d}, {0x2f, 0x5f, 0xd0}};

constexpr int kChangeSteps = 12;  // in each direction

constexpr std::string_view kClassLetters = "abcdefghijklmnopqrstuvwxyz";

KindClass script_class(Origin origin, JsTier tier) {
  const bool own = origin == Origin::kOwn;
  switch (tier) {
    case JsTier::kInterpreted:
      return own ? kOwnInterpreted : kOtherInterpreted;
    case JsTier::kBaseline:
      return own ? kOwnBaseline : kOtherBaseline;
    case JsTier::kMaglev:
      return own ? kOwnMaglev : kOther;
    case JsTier::kTurbofan:
    case JsTier::kNone:
      break;
  }
  return own ? kOwnTurbofan : kOther;
}

Rgb mix_colours(Rgb from, Rgb to, double share) {
  const auto mixed = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
  };
  return {mixed(from.red, to.red), mixed(from.green, to.green), mixed(from.blue, to.blue)};
}

std::string hex(Rgb colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

std::string rules(std::size_t count, const auto& colour_of) {
  std::string css;
  for (std::size_t i = 0; i < count; ++i) {
    css += fmt::format(".{}{{fill:{}}}", class_name({static_cast<std::uint8_t>(i)}), colour_of(i));
  }
  return css + "\n";
}

std::string in_dark(std::string_view css) {
  return fmt::format("@media (prefers-color-scheme:dark){{{}}}\n", css);
}

double change_of_class(std::size_t index) {
  return (static_cast<double>(index) - kChangeSteps) / kChangeSteps;
}

}  // namespace

const Gradient* find_gradient(std::string_view name) {
  const auto found = std::ranges::find(kGradients, name, &Gradient::name);
  return found == kGradients.end() ? nullptr : &*found;
}

BoxClass kind_class(const Label& label, FrameTraits traits) {
  switch (label.kind) {
    case FrameKind::kJs:
      return {script_class(label.origin, traits.tier)};
    case FrameKind::kNative:
      return {kNative};
    case FrameKind::kKernel:
      return {kKernel};
    case FrameKind::kBuiltin:
      return {kBuiltin};
    case FrameKind::kGc:
      return {kGc};
    case FrameKind::kRegExp:
      return {kRegExp};
    case FrameKind::kWasm:
      return {kWasm};
    case FrameKind::kUnknown:
      break;
  }
  return {label.is_name ? kRoot : kUnknown};
}

std::size_t kind_class_count() {
  return kKindClasses;
}

BoxClass change_class(double change) {
  // The least change is still told from none.
  const double steps = std::ceil(std::min(std::abs(change), 1.0) * kChangeSteps);
  return {static_cast<std::uint8_t>(kChangeSteps + static_cast<int>(change < 0 ? -steps : steps))};
}

std::size_t change_class_count() {
  return 2 * kChangeSteps + 1;
}

std::string_view class_name(BoxClass box_class) {
  return kClassLetters.substr(box_class.index, 1);
}

std::string kind_css(bool with_dark) {
  std::string css = rules(kKindClasses, [](std::size_t i) { return kStyles[i].light; });
  if (with_dark) css += in_dark(rules(kKindClasses, [](std::size_t i) { return kStyles[i].dark; }));
  return css;
}

std::string change_css(bool with_dark) {
  const auto css_of = [](const ChangeColours& colours) {
    return rules(change_class_count(), [&colours](std::size_t i) {
      const double change = change_of_class(i);
      return hex(mix_colours(colours.same, change > 0 ? colours.grew : colours.shrank, std::abs(change)));
    });
  };
  std::string css = css_of(kLightChange);
  if (with_dark) css += in_dark(css_of(kDarkChange));
  return css;
}

std::string_view kind_words(BoxClass box_class) {
  return kStyles[box_class.index].words;
}

LegendEntry legend_entry(BoxClass kind) {
  const KindStyle& style = kStyles[kind.index];
  return {{style.swatch}, style.legend};
}

}  // namespace nodescope
