// Any names and any options give a well-formed SVG with exactly one script: ours.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/diff.h"
#include "analysis/selection.h"
#include "base/check.h"
#include "render/flame_svg.h"
#include "xml_checker.h"

namespace nodescope {
namespace {

// The first bytes choose the options; the rest is stacks: a line is a stack, ';' separates names, the last
// byte counts.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const char first = bytes_[0];
    bytes_.remove_prefix(1);
    return static_cast<std::uint8_t>(first);
  }
  std::string text(std::size_t length) {
    const std::string_view part = bytes_.substr(0, length);
    bytes_.remove_prefix(part.size());
    return std::string(part);
  }

  Profile profile() {
    Profile profile;
    const EventId before = profile.intern_event("before", static_cast<Unit>(byte() % 4));
    const EventId after = profile.intern_event("after", Unit::kSamples);
    while (!bytes_.empty()) {
      const std::size_t end = std::min(bytes_.find('\n'), bytes_.size());
      add_stack(profile, bytes_.substr(0, end), profile.samples.size() % 3 == 1 ? after : before);
      bytes_.remove_prefix(std::min(end + 1, bytes_.size()));
    }
    return profile;
  }

 private:
  static void add_stack(Profile& profile, std::string_view line, EventId event) {
    const std::uint64_t count = line.empty() ? 1 : static_cast<std::uint8_t>(line.back());
    StackId stack = kEmptyStack;
    std::size_t depth = 0;
    while (!line.empty()) {
      const std::size_t end = std::min(line.find(';'), line.size());
      Frame frame;
      frame.function = profile.strings.intern(line.substr(0, end));
      frame.kind = static_cast<FrameKind>((line.size() + depth++) % kFrameKindCount);
      frame.tier = static_cast<JsTier>(line.size() % 5);
      if (line.size() % 2 == 0) frame.file = profile.strings.intern(line.substr(end));
      stack = profile.stacks.push(stack, profile.frames.intern(frame));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    profile.samples.add(
        {static_cast<std::int64_t>(count), stack, {ThreadId{}, kUnknownCpu, event}, count << (count % 56)});
  }

  std::string_view bytes_;
};

FlameOptions flame_options(Input& input) {
  FlameOptions options;
  const std::uint8_t flags = input.byte();
  options.inverted = (flags & 1) != 0;
  options.negate = (flags & 2) != 0;
  options.consistent = (flags & 4) != 0;
  options.min_width = {(flags & 8) != 0 ? 0.0 : 0.1, (flags & 16) != 0};
  options.palette = static_cast<Palette>(input.byte() % 17);
  options.shade = static_cast<Shade>(input.byte() % 3);
  if ((flags & 32) != 0) options.background = "blue";
  options.title = input.text(input.byte() % 16);
  options.notes = input.text(input.byte() % 16);
  options.count_name = input.text(input.byte() % 8);
  options.font_type = input.text(input.byte() % 8);
  options.name_attributes[input.text(3)]["href"] = input.text(8);
  return options;
}

void check(const StringSink& sink) {
  XmlChecker checker(sink.text());
  const auto wrong = checker.check();
  if (wrong) std::fprintf(stderr, "%s\n", wrong->c_str());
  NODESCOPE_CHECK(!wrong);
  NODESCOPE_CHECK(checker.count("script") <= 1);
}

}  // namespace
}  // namespace nodescope

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  Input input(std::string_view(reinterpret_cast<const char*>(data), size));
  const FlameOptions options = flame_options(input);
  CallTreeOptions tree;
  const std::uint8_t flags = input.byte();
  tree.reversed = (flags & 1) != 0;
  tree.time_order = (flags & 2) != 0;
  tree.collapse_recursion = (flags & 4) != 0;
  const bool compares = (flags & 8) != 0;
  Selection selection;
  selection.only_my_code = (flags & 16) != 0;
  if ((flags & 32) != 0) selection.include = {input.text(6)};

  auto selected = derive_selection(input.profile(), selection);
  if (!selected) return 0;
  StringSink sink;
  if (compares) {
    DiffOptions diff_options;
    diff_options.after_event = EventId{1};
    const Diff diff = derive_diff(selected->profile, selected->profile, diff_options);
    DiffTreeOptions shape;
    shape.width = static_cast<DiffWidth>(flags % 3);
    shape.reversed = tree.reversed;
    NODESCOPE_CHECK(write_flame_svg(diff.derive_tree(shape), options, sink).has_value());
  } else {
    NODESCOPE_CHECK(write_flame_svg(selected->profile, tree, options, sink).has_value());
  }
  check(sink);
  return 0;
}
