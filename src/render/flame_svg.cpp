#include "render/flame_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "render/flame_layout.h"
#include "render/flame_script.h"
#include "render/flame_style.h"
#include "render/xml_text.h"

namespace nodescope {

namespace {

constexpr std::size_t kFlushBytes = 256 * 1024;
// "v8.." says nothing.
constexpr std::size_t kMinLetters = 4;
// Less is noise, and not coloured.
constexpr double kSmallestChange = 0.01;

std::string strip_annotation(std::string_view name) {
  constexpr std::string_view kLetters = "kwij";
  if (name.size() >= 4 && name.ends_with(']') && name.substr(name.size() - 4, 2) == "_[" &&
      kLetters.find(name[name.size() - 2]) != std::string_view::npos) {
    name.remove_suffix(4);
  }
  return std::string(name);
}

// Relative, or of the web: "javascript:" runs code.
bool is_harmless_link(std::string_view link) {
  if (link.starts_with("https:") || link.starts_with("http:")) return true;
  return link.find(':') > link.find_first_of("/?#");
}

// Kinds are worth showing where most labels have one; a folded file names few.
Palette resolve_palette(Palette palette, const LabelTable& labels) {
  if (palette != Palette::kAuto) return palette;
  std::size_t known = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    known += labels[LabelId{i}].kind != FrameKind::kUnknown ? 1 : 0;
  return known * 2 > labels.size() ? Palette::kKind : Palette::kHot;
}

std::string default_title(const CallTree& tree, const FlameOptions& options) {
  if (!options.title.empty()) return options.title;
  if (tree.time_order) return "Flame Chart";
  return options.inverted ? "Icicle Graph" : "Flame Graph";
}

// Appends numbers and text without the cost of a format string per box.
class Text {
 public:
  Text& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  Text& operator<<(std::uint64_t value) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text_.append(digits.data(), end);
    return *this;
  }
  Text& fixed(double value, int decimals) {
    std::array<char, 400> digits;  // the largest double has 309 digits
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, decimals)
            .ptr;
    text_.append(digits.data(), end);
    return *this;
  }
  // A coordinate in pixels, with one decimal where it is needed.
  Text& pixels(double value) {
    fixed(value, 1);
    if (text_.ends_with(".0")) text_.resize(text_.size() - 2);
    return *this;
  }
  std::string& buffer() { return text_; }

 private:
  std::string text_;
};

// What the boxes of one label have in common.
struct LabelLook {
  bool known = false;
  std::string title;                                   // escaped
  std::string name;                                    // as it is written into the box, not escaped
  std::array<std::string, kNameMarkCount> attributes;  // its colour, by mark; empty until it is asked for
  std::string link;                                    // the start tag of an <a>, or nothing
};

class FlameWriter {
 public:
  FlameWriter(const CallTree& tree, const FlameOptions& options, ByteSink& sink)
      : tree_(tree),
        options_(options),
        sink_(sink),
        palette_(resolve_palette(options.palette, *tree.labels)),
        by_kind_(palette_ == Palette::kKind && !tree.is_comparison()),
        follows_viewer_(options.background.empty()),
        layout_(tree, options, has_legend()),
        colours_(palette_, options.shade, options.random_seed),
        looks_(tree.labels->size()) {
    if (options.consistent) report_.palette = options.known;
    if (const Gradient* gradient = find_gradient(options.background)) {
      plain_background_ = gradient->top;
    } else if (!follows_viewer_) {
      plain_background_ = options.background;
    }
    factor_total_ = layout_.total() * options.factor;
    if (palette_ == Palette::kChain) find_wakers();
  }

  Result<FlameReport> write() {
    write_head();
    if (auto written = write_boxes(); !written) return std::unexpected(written.error());
    write_names();
    write_around();
    out_ << "<script><![CDATA[" << kFlameScript << "]]></script>\n</svg>\n";
    if (auto written = flush(); !written) return std::unexpected(written.error());
    report_.rows = layout_.rows();
    report_.diagnostics.merge(tree_.diagnostics);
    if (layout_.is_cut()) {
      report_.diagnostics.warn(
          fmt::format("frames deeper than {} rows are not drawn", with_thousands(kMaxFlameRows)));
    }
    if (layout_.total_ignored()) {
      report_.diagnostics.warn("--total is less than the actual total and was ignored");
    }
    return std::move(report_);
  }

 private:
  bool has_legend() const {
    return palette_ == Palette::kKind || tree_.is_comparison() || !tree_.note.empty();
  }

  Result<void> flush() {
    auto written = sink_.write(out_.buffer());
    out_.buffer().clear();
    return written;
  }

  // The document up to the boxes.
  void write_head() {
    const std::string title = default_title(tree_, options_);
    out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
         << options_.width << "\" height=\"";
    out_.pixels(layout_.image_height()) << "\" viewBox=\"0 0 " << options_.width << " ";
    out_.pixels(layout_.image_height()) << "\" fill=\"#161a21\" font-size=\"";
    out_.pixels(options_.font_size) << "\" font-family=\"";
    escape(options_.font_type.empty() ? "system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif"
                                      : options_.font_type);
    write_data();
    out_ << ">\n<!-- NOTES: ";
    append_xml_comment(out_.buffer(), options_.notes);
    out_ << " -->\n<title>";
    escape(title);
    out_ << "</title>\n";
    write_style();
    write_background();
    const double middle = options_.width / 2.0;
    write_text("title", middle, options_.font_size * 2, "text-anchor=\"middle\" font-weight=\"600\"", title);
    if (!options_.subtitle.empty()) {
      write_text("subtitle", middle, options_.font_size * 4, "text-anchor=\"middle\" class=\"soft\"",
                 options_.subtitle);
    }
  }

  // What the script wants to know.
  void write_data() {
    out_ << "\" data-units=\"" << layout_.units() << "\" data-rows=\"" << layout_.rows() << "\" data-row=\""
         << options_.row_height << "\" data-inverted=\"" << (options_.inverted ? "1" : "0")
         << "\" data-fluid=\"" << (options_.fluid ? "1" : "0") << "\" data-name=\"";
    escape(options_.name_type);
    if (by_kind_) {
      std::string kinds;
      for (std::size_t i = 0; i < kind_class_count(); ++i) {
        const BoxClass box_class{static_cast<std::uint8_t>(i)};
        if (kind_words(box_class).empty()) continue;
        kinds += fmt::format("{}\"{}\":\"{}\"", kinds.empty() ? "" : ",", class_name(box_class),
                             kind_words(box_class));
      }
      out_ << "\" data-kinds=\"";
      escape("{" + kinds + "}");
    }
    out_ << "\"";
  }

  // Nothing that the input or the user said goes in here but numbers.
  void write_style() {
    const Rgb search = parse_colour(options_.search_colour).value_or(Rgb{230, 0, 230});
    out_ << "<style>" << kFlameStyle
         << fmt::format("@supports (vector-effect:non-scaling-stroke){{#frames rect{{stroke:{}}}}}\n",
                        plain_background_)
         << fmt::format("#frames .hit{{fill:rgb({},{},{})}}\n", search.red, search.green, search.blue);
    if (tree_.is_comparison()) {
      out_ << change_css(follows_viewer_);
    } else if (by_kind_) {
      out_ << kind_css(follows_viewer_);
    }
    if (follows_viewer_) {
      out_ << kFlameDarkStyle;
      // Other palettes are light in the dark, too.
      if (by_kind_ || tree_.is_comparison())
        out_ << "@media (prefers-color-scheme:dark){#names{fill:#f4f6fa}}\n";
    }
    out_ << "</style>\n";
  }

  void write_background() {
    std::string fill = plain_background_;
    if (const Gradient* gradient = find_gradient(options_.background)) {
      out_ << "<linearGradient id=\"background\" x2=\"0\" y2=\"1\"><stop stop-color=\"" << gradient->top
           << "\" offset=\"5%\"/><stop stop-color=\"" << gradient->bottom
           << "\" offset=\"95%\"/></linearGradient>\n";
      fill = "url(#background)";
    }
    out_ << "<rect id=\"bg\" width=\"100%\" height=\"100%\" fill=\"" << fill << "\"/>\n";
  }

  Result<void> write_boxes() {
    out_ << "<svg id=\"frames\" x=\"10\" y=\"";
    out_.pixels(layout_.frames_top()) << "\" width=\"";
    out_.pixels(layout_.frames_width()) << "\" height=\"";
    out_.pixels(layout_.frames_height()) << "\" viewBox=\"0 0 " << layout_.units() << " " << layout_.rows()
                                         << "\" preserveAspectRatio=\"none\">\n";
    box_height_ = fmt::format("{:.3g}", (options_.row_height - 1.0) / options_.row_height);
    for (std::size_t i = 0; i < tree_.nodes.size() && tree_.nodes[i].depth < layout_.rows(); ++i) {
      write_box(i);
      ++report_.boxes;
      if (out_.buffer().size() < kFlushBytes) continue;
      if (auto written = flush(); !written) return written;
    }
    out_ << "</svg>\n";
    return {};
  }

  void write_box(std::size_t index) {
    const CallNode& node = tree_.nodes[index];
    LabelLook& look = look_of(node.label);
    const std::uint64_t left = layout_.unit_at(node.start);
    const std::uint64_t right = index == 0 ? layout_.units() : layout_.unit_at(node.start + node.total);
    out_ << look.link << "<rect x=\"" << left << "\" y=\"" << layout_.row_of(node.depth) << "\" width=\""
         << std::max<std::uint64_t>(right - left, 1) << "\" height=\"" << box_height_ << "\"";
    write_colour(index, look);
    out_ << "><title>";
    write_title(index, look);
    out_ << "</title></rect>" << (look.link.empty() ? "\n" : "</a>\n");
  }

  void write_colour(std::size_t index, LabelLook& look) {
    if (tree_.is_comparison()) {
      out_ << " class=\"" << class_name(change_class(relative_change(index))) << "\"";
    } else if (by_kind_) {
      const BoxClass box_class = kind_class((*tree_.labels)[tree_.nodes[index].label], tree_.traits[index]);
      seen_classes_[box_class.index] = true;
      out_ << " class=\"" << class_name(box_class) << "\"";
    } else if (each_box_differs()) {
      out_ << fill_attribute(colour_of(index));
    } else {
      std::string& attribute = look.attributes[static_cast<std::size_t>(tree_.traits[index].mark)];
      if (attribute.empty()) attribute = fill_attribute(colour_of(index));
      out_ << attribute;
    }
  }

  // Boxes of one label and mark have no colour in common.
  bool each_box_differs() const {
    return palette_ == Palette::kChain || (options_.shade == Shade::kRandom && !options_.consistent);
  }

  static std::string fill_attribute(Rgb colour) {
    return fmt::format(" fill=\"#{:02x}{:02x}{:02x}\"", colour.red, colour.green, colour.blue);
  }

  // By the name as folded text has it: where that says in a mark what the code is, flamegraph.pl's rules are
  // all there is; else the profile's kinds know better.
  Rgb colour_of(std::size_t index) {
    const Label& label = (*tree_.labels)[tree_.nodes[index].label];
    const NameMark mark = tree_.traits[index].mark;
    std::string name(tree_.text(tree_.nodes[index]));
    name += text_of(mark);
    if (palette_ == Palette::kChain && is_waker_[index]) name += "_[w]";
    const bool mark_decides = mark == NameMark::kJit || mark == NameMark::kKernel;
    return colour_of_name(name, mark_decides ? FrameKind::kUnknown : label.kind, mark == NameMark::kInlined);
  }

  Rgb colour_of_name(const std::string& name, FrameKind kind, bool inlined) {
    if (name == "--" || name == "--_[w]") return {160, 160, 160};
    if (name == "-") return {200, 200, 200};
    if (!options_.consistent) return colours_.colour_of(name, kind, inlined);
    const auto found = report_.palette.find(name);
    if (found != report_.palette.end()) return found->second;
    const Rgb colour = colours_.colour_of(name, kind, inlined);
    report_.palette.emplace(name, colour);
    return colour;
  }

  // In a chain graph a separator "--" stands between a stack and that of the thread which woke it.
  void find_wakers() {
    is_waker_.resize(tree_.nodes.size());
    for (std::size_t i = 1; i < tree_.nodes.size(); ++i) {
      const std::uint32_t parent = tree_.nodes[i].parent;
      is_waker_[i] = is_waker_[parent] || tree_.text(tree_.nodes[parent]) == "--";
    }
  }

  LabelLook& look_of(LabelId label) {
    LabelLook& look = looks_[label.index()];
    if (look.known) return look;
    look.known = true;
    const std::string_view text = tree_.labels->text(label);
    look.name = label == LabelId{} ? "all" : strip_annotation(text);
    append_xml_name(look.title, look.name);
    if (const auto found = options_.name_attributes.find(text); found != options_.name_attributes.end()) {
      look.link = link_of(found->second);
    }
    return look;
  }

  static std::string link_of(const std::map<std::string, std::string>& attributes) {
    const auto href = attributes.find("href");
    if (href == attributes.end() || !is_harmless_link(href->second)) return {};
    const auto target = attributes.find("target");
    std::string link = "<a href=\"";
    append_xml_text(link, href->second);
    link += "\" target=\"";
    append_xml_text(link, target == attributes.end() ? "_top" : target->second);
    return link + "\">";
  }

  // "name (1,234 samples, 5.67%)"
  void write_title(std::size_t index, const LabelLook& look) {
    const CallNode& node = tree_.nodes[index];
    const double count =
        std::nearbyint((index == 0 ? layout_.total() : static_cast<double>(node.total)) * options_.factor);
    out_ << look.title << " (";
    if (tree_.shows_both_sides) {
      const CallChange& change = tree_.changes[index];
      write_count(static_cast<double>(change.before_total) * options_.factor);
      out_ << " \u2192 ";
      write_count(static_cast<double>(change.after_total) * options_.factor);
    } else {
      write_count(count);
      out_ << ", ";
      write_percent(count, index == 0);
    }
    if (tree_.is_comparison()) write_change(index);
    out_ << ")";
  }

  void write_percent(double count, bool is_root) {
    if (is_root) {
      out_ << "100%";
    } else {
      out_.fixed(100 * count / factor_total_, 2) << "%";
    }
  }

  void write_change(std::size_t index) {
    const CallChange& change = tree_.changes[index];
    const auto difference = [](std::uint64_t before, std::uint64_t after) {
      return static_cast<double>(static_cast<std::int64_t>(after - before));
    };
    const double self = difference(change.before_self, change.after_self);
    if (options_.change == ChangeOf::kSelf) {
      out_ << "; ";
      write_signed_percent(self);
      return;
    }
    out_ << "; ";
    write_signed_percent(difference(change.before_total, change.after_total));
    if (self == 0) return;
    out_ << ", self ";
    write_signed_percent(self);
  }

  void write_signed_percent(double difference) {
    if (options_.negate && difference != 0) difference = -difference;  // not -0.00%
    out_ << (difference > 0 ? "+" : "");
    const double whole =
        tree_.shows_both_sides ? static_cast<double>(tree_.changes[0].after_total) : layout_.total();
    out_.fixed(whole == 0 ? 0 : 100 * difference / (whole * options_.factor), 2) << "%";
  }

  void write_count(double count) {
    const bool in_words = options_.count_name.empty() && options_.factor == 1 && count < 1e18;
    if (in_words && tree_.unit == Unit::kNanoseconds) {
      out_ << human_duration_ns(static_cast<std::uint64_t>(count));
    } else if (in_words && tree_.unit == Unit::kBytes) {
      out_ << human_bytes(static_cast<std::uint64_t>(count));
    } else {
      write_thousands(count);
      out_ << " " << count_name();
    }
  }

  void write_thousands(double count) {
    std::string& text = out_.buffer();
    const std::size_t begin = text.size();
    out_.fixed(count, 0);
    for (std::size_t i = text.size(); i > begin + 3 && i - 3 > begin; i -= 3) text.insert(i - 3, 1, ',');
  }

  // The script finds the end of a name by the last bracket.
  const std::string& count_name() {
    if (!count_name_.empty()) return count_name_;
    std::string name = options_.count_name;
    if (name.empty()) {
      name = tree_.unit == Unit::kNanoseconds ? "ns"
             : tree_.unit == Unit::kBytes     ? "bytes"
             : tree_.unit == Unit::kCount     ? tree_.event
                                              : "samples";
    }
    std::ranges::replace(name, '(', '[');
    std::ranges::replace(name, ')', ']');
    append_xml_name(count_name_, name, 100);
    return count_name_;
  }

  // From -1 to 1.
  double relative_change(std::size_t index) const {
    const CallChange& change = tree_.changes[index];
    const bool self = options_.change == ChangeOf::kSelf;
    const auto before = static_cast<double>(self ? change.before_self : change.before_total);
    const auto after = static_cast<double>(self ? change.after_self : change.after_total);
    const double most = self ? static_cast<double>(tree_.largest_self_change) : std::max(before, after);
    const double share = (after - before) / std::max(most, 1.0);
    if (!self && std::abs(share) < kSmallestChange) return 0;
    return options_.negate ? -share : share;
  }

  // Names over the boxes that have room for them; the script writes them anew when it zooms.
  void write_names() {
    out_ << "<rect id=\"veil\" x=\"10\" width=\"";
    out_.pixels(layout_.frames_width()) << "\" height=\"0\" fill=\"" << plain_background_
                                        << "\" opacity=\".5\" pointer-events=\"none\"/>\n"
                                           "<g id=\"names\" fill=\"#10151c\" pointer-events=\"none\"";
    if (options_.font_type.empty()) {
      out_ << " font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace\" "
              "font-size=\"";
      out_.pixels(options_.font_size - 1) << "\"";
    }
    out_ << ">\n";
    const double letter = options_.font_size * options_.font_width;
    for (std::size_t i = 0; i < tree_.nodes.size() && tree_.nodes[i].depth < layout_.rows(); ++i) {
      const CallNode& node = tree_.nodes[i];
      const double per_unit = 1 / layout_.units_per_pixel();
      const double left = static_cast<double>(layout_.unit_at(node.start)) * per_unit;
      const double right = i == 0 ? layout_.frames_width()
                                  : static_cast<double>(layout_.unit_at(node.start + node.total)) * per_unit;
      const auto letters = static_cast<std::size_t>(std::max(0.0, (right - left - 6) / letter));
      if (letters >= kMinLetters) write_name(node, left, letters);
    }
    out_ << "</g>\n";
  }

  void write_name(const CallNode& node, double left, std::size_t letters) {
    const std::string& name = look_of(node.label).name;
    const double size = options_.font_size - (options_.font_type.empty() ? 1 : 0);
    out_ << "<text x=\"";
    out_.pixels(layout_.left() + left + 3) << "\" y=\"";
    out_.pixels(layout_.frames_top() + layout_.row_of(node.depth) * options_.row_height +
                options_.row_height / 2.0 + size * 0.32)
        << "\">";
    escape(shortened(name, letters));
    out_ << "</text>\n";
  }

  // By characters, not bytes; the script measures, this only counts.
  static std::string shortened(std::string_view name, std::size_t letters) {
    std::size_t count = 0;
    std::size_t cut = 0;  // where all but the last letter end
    for (std::size_t i = 0; i < name.size(); ++i) {
      if ((static_cast<unsigned char>(name[i]) & 0xC0u) == 0x80u) continue;
      if (count == letters - 1) cut = i;
      if (++count > letters) return std::string(name.substr(0, cut)) + "…";
    }
    return std::string(name);
  }

  void write_around() {
    const double right = layout_.left() + layout_.frames_width();
    write_text("unzoom", layout_.left(), options_.font_size * 2, "visibility=\"hidden\"", "Reset zoom");
    write_text("details", layout_.left(), layout_.details_baseline(), "", "");
    write_text("matched", right, layout_.details_baseline(), "text-anchor=\"end\"", "");
    if (tree_.is_comparison()) {
      write_change_legend();
    } else if (by_kind_) {
      write_kind_legend();
    }
  }

  void write_kind_legend() {
    std::array<bool, 256> shown{};
    double x = layout_.left();
    for (std::size_t i = 0; i < kind_class_count(); ++i) {
      const LegendEntry entry = legend_entry({static_cast<std::uint8_t>(i)});
      if (!seen_classes_[i] || entry.words.empty() || shown[entry.swatch.index]) continue;
      shown[entry.swatch.index] = true;
      x = write_legend_entry(x, entry.swatch, entry.words);
    }
    write_note(x);
  }

  void write_change_legend() {
    double x = write_legend_entry(layout_.left(), change_class(options_.negate ? -1 : 1), "Grew");
    x = write_legend_entry(x, change_class(options_.negate ? 1 : -1), "Shrank");
    write_note(x);
  }

  double write_legend_entry(double x, BoxClass swatch, std::string_view words) {
    out_ << "<rect class=\"" << class_name(swatch) << "\" x=\"";
    out_.pixels(x) << "\" y=\"";
    out_.pixels(layout_.legend_baseline() - 9) << "\" width=\"10\" height=\"10\"/>";
    out_ << "<text class=\"soft\" x=\"";
    out_.pixels(x + 15) << "\" y=\"";
    out_.pixels(layout_.legend_baseline()) << "\">" << words << "</text>\n";
    return x + 15 + static_cast<double>(words.size()) * options_.font_size * 0.56 + 18;
  }

  void write_note(double x) {
    if (!tree_.note.empty()) write_text("note", x, layout_.legend_baseline(), "class=\"soft\"", tree_.note);
  }

  void write_text(std::string_view id, double x, double y, std::string_view attributes,
                  std::string_view text) {
    out_ << "<text id=\"" << id << "\" x=\"";
    out_.pixels(x) << "\" y=\"";
    out_.pixels(y) << "\" " << attributes << ">";
    escape(text);
    out_ << "</text>\n";
  }

  void escape(std::string_view text) { append_xml_text(out_.buffer(), text); }

  const CallTree& tree_;
  const FlameOptions& options_;
  ByteSink& sink_;
  Palette palette_;
  bool by_kind_;
  bool follows_viewer_;
  FlameLayout layout_;
  FlameColours colours_;
  std::vector<LabelLook> looks_;
  Text out_;
  FlameReport report_;
  std::string box_height_;
  std::string plain_background_ = "#ffffff";  // a colour, also where the background is a gradient
  std::string count_name_;
  std::array<bool, 256> seen_classes_{};
  std::vector<bool> is_waker_;  // by node, in a chain graph
  double factor_total_ = 1;
};

// For tools that run unattended: a picture that says why there is none.
Result<FlameReport> write_empty_svg(const FlameOptions& options, ByteSink& sink) {
  FlameReport report;
  report.diagnostics.error("no samples to draw");
  const auto written = sink.write(
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "width=\"{0}\" height=\"60\" "
                  "viewBox=\"0 0 {0} 60\" font-family=\"sans-serif\" font-size=\"12\">"
                  "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
                  "<text x=\"{1}\" y=\"34\" text-anchor=\"middle\">No samples to draw.</text></svg>\n",
                  options.width, options.width / 2));
  if (!written) return std::unexpected(written.error());
  return report;
}

}  // namespace

Result<FlameReport> write_flame_svg(const CallTree& tree, const FlameOptions& options, ByteSink& sink) {
  if (const auto checked = check_flame_options(options); !checked) return std::unexpected(checked.error());
  if (tree.total() == 0) return write_empty_svg(options, sink);
  return FlameWriter(tree, options, sink).write();
}

Result<FlameReport> write_flame_svg(const Profile& profile, CallTreeOptions tree, const FlameOptions& options,
                                    ByteSink& sink) {
  if (const auto checked = check_flame_options(options); !checked) return std::unexpected(checked.error());
  tree.min_total = min_total(options, derive_total(profile, tree.event, tree.count));
  return write_flame_svg(derive_call_tree(profile, tree), options, sink);
}

}  // namespace nodescope
