#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/code_origin.h"
#include "model/profile.h"

namespace nodescope {

enum class LabelStyle : std::uint8_t {
  kFull,   // "fib /app/x.js:3:9"
  kShort,  // "fib x.js:3"
};

// What to call `frame`.  The function of native and kernel code; the module in brackets, "[libfoo.so]", where
// only that is known; "[unknown]" for nothing.  A frame of unknown kind that has a function (plain folded
// text) is called exactly that.
std::string label_of(const Profile& profile, const Frame& frame, LabelStyle style = LabelStyle::kFull);

struct LabelTag;
using LabelId = Id<LabelTag>;

// Two frames with equal labels are the same box and the same row.
struct Label {
  StringId text;  // in the LabelTable's strings
  FrameKind kind = FrameKind::kUnknown;
  Origin origin = Origin::kUnknown;
  JsTier tier = JsTier::kNone;  // kNone where tiers are merged
  bool is_name = false;         // of a process or thread, not of a frame

  bool operator==(const Label&) const = default;
};

// The two parts of what a frame is called: "fib" and "/app/x.js:3:9"; of code without a source file the
// function and the base name of its binary.
struct LabelParts {
  std::string name;
  std::string place;  // empty where nothing is known, or the name tells it

  bool operator==(const LabelParts&) const = default;
};

LabelParts label_parts_of(const Profile& profile, const Frame& frame);

// Where a JavaScript function begins; of other code, empty.
struct LabelSource {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool operator==(const LabelSource&) const = default;
};

// What stackcollapse-perf.pl writes behind the name of a frame: "_[j]", "_[i]", "_[k]".  A label leaves it
// out; flamegraph.pl's palettes go by it.
enum class NameMark : std::uint8_t { kNone, kJit, kInlined, kKernel };
constexpr std::size_t kNameMarkCount = 4;

std::string_view text_of(NameMark mark);

// The mark that folded text had behind the name of `frame`, or would have; "_[j]" and "_[k]", which are
// written only where asked for, only if it had them.
NameMark name_mark_of(const Profile& profile, const Frame& frame);

// What a label does not tell apart, but a colour does.
struct FrameTraits {
  JsTier tier = JsTier::kNone;
  bool inlined = false;
  NameMark mark = NameMark::kNone;

  bool operator==(const FrameTraits&) const = default;
};

struct LabelOptions {
  LabelStyle style = LabelStyle::kFull;
  // Overrides label_of: for text whose names must stay as they were written, the writer of that text.
  std::string (*name)(const Profile& profile, const Frame& frame) = nullptr;
  // A function in several tiers is one label.
  bool merge_tiers = true;
  // difffolded's -s: "0x7f12ab" becomes "0x...".
  bool strip_hex = false;

  bool operator==(const LabelOptions&) const = default;
};

// Distinct labels of one or several profiles.  Label 0 has no text: the root.
class LabelTable {
 public:
  explicit LabelTable(LabelOptions options = {});

  // The label of every frame of `profile`, by FrameId.
  std::vector<LabelId> add_frames(const Profile& profile);
  // A label without a frame: the name of a process.
  LabelId add_name(std::string_view text);

  // A label that says the same and is another one.
  LabelId add_copy(LabelId id);

  const Label& operator[](LabelId id) const { return labels_[id.index()]; }
  std::string_view text(LabelId id) const { return strings_[labels_[id.index()].text]; }
  // Of the first frame that has this label; of a name, itself.
  const LabelParts& parts(LabelId id) const { return parts_[id.index()]; }
  const LabelSource& source(LabelId id) const { return sources_[id.index()]; }
  std::size_t size() const { return labels_.size(); }
  const LabelOptions& options() const { return options_; }

 private:
  // `describe`, which returns the label's parts and source, is called for a new label only.
  template <typename Describe>
  LabelId add(Label label, std::string_view text, const Describe& describe);

  LabelOptions options_;
  StringTable strings_;
  std::vector<Label> labels_;
  std::vector<LabelParts> parts_;
  std::vector<LabelSource> sources_;
  FlatMap<std::uint64_t, LabelId> ids_;
};

}  // namespace nodescope
