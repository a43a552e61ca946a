#include "app/flame_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/output.h"
#include "base/text.h"
#include "os/file.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxSmallFile = std::uint64_t{64} << 20;

Result<std::string> read_small_file(const std::string& path) {
  auto source = open_regular_file(path);
  if (!source) return std::unexpected(source.error());
  std::string storage;
  const auto bytes = read_whole(**source, storage, kMaxSmallFile);
  if (!bytes) return std::unexpected(bytes.error());
  return std::string(as_text(*bytes));
}

// flamegraph.pl's file: a function name, then tab-separated name=value pairs, per line.
Result<void> read_name_attributes(const std::string& path, FlameOptions& options) {
  auto text = read_small_file(path);
  if (!text) return std::unexpected(text.error());
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t name_end = std::min(line.find('\t'), line.size());
    auto& attributes = options.name_attributes[std::string(line.substr(0, name_end))];
    line.remove_prefix(std::min(name_end + 1, line.size()));
    while (!line.empty()) {
      const std::size_t pair_end = std::min(line.find('\t'), line.size());
      const std::string_view pair = line.substr(0, pair_end);
      if (const std::size_t equals = pair.find('='); equals != std::string_view::npos) {
        attributes.emplace(pair.substr(0, equals), pair.substr(equals + 1));
      }
      line.remove_prefix(std::min(pair_end + 1, line.size()));
    }
  }
  return {};
}

// A palette.map that is not there yet is an empty one.
Result<ConsistentPalette> read_palette(const std::string& path) {
  auto text = read_small_file(path);
  if (!text && text.error().code == ErrorCode::kNotFound) return ConsistentPalette{};
  if (!text) return std::unexpected(text.error());
  return parse_palette_map(*text);
}

}  // namespace

void add_flame_flags(CLI::App& command, FlameFlags& flags) {
  const std::string group = "How it looks";
  FlameOptions& options = flags.options;
  const auto text = [&](const char* names, std::string& value, const char* description,
                        const char* type = "TEXT") {
    command.add_option(names, value, description)->type_name(type)->group(group);
  };
  text("--title", options.title, "The heading");
  text("--subtitle", options.subtitle, "A second line below it");
  text("--colors,--color,--colours", flags.colours,
       "kind, hot, mem, io, wakeup, chain, java, js, perl, red, green, blue, aqua, yellow, purple, orange; "
       "if not given: kind "
       "where the profile knows kinds, else hot",
       "PALETTE");
  text("--bgcolors", options.background, "Background: yellow, blue, green, grey or #rrggbb", "COLOUR");
  command.add_flag("--hash", flags.hash, "Colours by a hash of the name")->group(group);
  command.add_flag("--random", flags.random, "Colours at random")->group(group);
  command.add_flag("--cp", options.consistent, "Keep each function's colour in palette.map")->group(group);
  command.add_option("--width", options.width, "Width in pixels")->type_name("N")->group(group);
  command.add_option("--height", options.row_height, "Height of a frame in pixels")
      ->type_name("N")
      ->group(group);
  text("--minwidth", flags.min_width, "Leave out narrower boxes: pixels, or a share such as 0.5%", "N");
  text("--fonttype", options.font_type, "Font", "NAME");
  command.add_option("--fontsize", options.font_size, "Font size")->type_name("N")->group(group);
  command.add_option("--fontwidth", options.font_width, "Average width of a character relative to its size")
      ->type_name("N")
      ->group(group);
  text("--countname", options.count_name, "What is counted, in words");
  text("--nametype", options.name_type, "What a box is, in words");
  command.add_flag("--inverted", options.inverted, "The root on top: an icicle graph")->group(group);
  command.add_flag("--negate", options.negate, "Swap the colours of a comparison")->group(group);
  text("--notes", options.notes, "A comment inside the file");
  text("--total", flags.total, "The count that the full width stands for", "N");
  command.add_option("--factor", options.factor, "Multiplies the counts shown")->type_name("N")->group(group);
  text("--nameattr", flags.name_attribute_file, "A file with attributes for names", "FILE");
  text("--encoding", options.encoding, "UTF-8, the only one", "NAME");
}

Result<FlameOptions> parse_flame_flags(const FlameFlags& flags) {
  FlameOptions options = flags.options;
  if (!flags.colours.empty()) {
    const auto palette = palette_of(flags.colours);
    if (!palette) return fail(ErrorCode::kUsage, fmt::format("--colors {}: no such palette", flags.colours));
    options.palette = *palette;
  }
  if (!flags.min_width.empty()) {
    const auto min_width = parse_min_width(flags.min_width);
    if (!min_width)
      return fail(ErrorCode::kUsage, fmt::format("--minwidth {}: write 0.1 or 0.5%", flags.min_width));
    options.min_width = *min_width;
  }
  if (!flags.total.empty()) {
    options.total = parse_number<double>(flags.total);
    if (!options.total) return fail(ErrorCode::kUsage, fmt::format("--total {}: not a number", flags.total));
  }
  if (flags.hash) options.shade = Shade::kByHash;
  if (flags.random) options.shade = Shade::kRandom;
  if (!flags.name_attribute_file.empty()) {
    if (auto read = read_name_attributes(flags.name_attribute_file, options); !read)
      return std::unexpected(read.error());
  }
  if (options.consistent) {
    auto known = read_palette(flags.palette_file);
    if (!known) return std::unexpected(known.error());
    options.known = std::move(*known);
  }
  if (auto sensible = check_flame_options(options); !sensible) return std::unexpected(sensible.error());
  return options;
}

Result<void> save_palette(const FlameFlags& flags, const ConsistentPalette& palette) {
  if (!flags.options.consistent) return {};
  return write_output(flags.palette_file,
                      [&](ByteSink& sink) { return sink.write(write_palette_map(palette)); });
}

}  // namespace nodescope
