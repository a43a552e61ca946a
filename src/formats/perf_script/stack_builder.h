#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/line_reader.h"
#include "formats/perf_script/wide_hash.h"
#include "model/stack.h"

namespace nodescope {

// What each distinct line of a stack means: the frames it stands for.  Millions of lines are some ten
// thousand distinct ones, so nearly all the work is a hash and a look-up; a line is parsed once.
class LineTable {
 public:
  // The frames of a line, outermost first; nothing if it is not a line of a stack.
  using Interpret = std::function<std::optional<std::vector<FrameId>>(std::string_view line)>;

  explicit LineTable(Interpret interpret) : interpret_(std::move(interpret)) {}

  // `hash` is that of `line`.
  std::optional<std::span<const FrameId>> find(const WideHash& hash, std::string_view line) {
    Meaning& meaning = meanings_[hash];
    if (meaning == kNew) [[unlikely]]
      meaning = interpret(line);
    // Nearly every line is one frame, which needs no further look-up.
    if (meaning < kSeveral) [[likely]] {
      only_ = FrameId{meaning - kFirst};
      return std::span(&only_, 1);
    }
    if (meaning == kNotUnderstood) return std::nullopt;
    const Several& several = several_[meaning - kSeveral];
    return std::span(frames_.data() + several.first, several.count);
  }
  void prefetch(const WideHash& hash) const { meanings_.prefetch(hash); }

  // In a text whose lines are all different there is nothing to gain from keeping them all.
  bool is_full() const { return meanings_.size() > kMaxLines; }
  void clear();

 private:
  static constexpr std::size_t kMaxLines = std::size_t{1} << 19;

  // From kFirst on a frame, from kSeveral on a place in several_.
  using Meaning = std::uint32_t;
  static constexpr Meaning kNew = 0;
  static constexpr Meaning kFirst = 1;
  static constexpr Meaning kSeveral = Meaning{1} << 31;
  static constexpr Meaning kNotUnderstood = UINT32_MAX;

  struct Several {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  Meaning interpret(std::string_view line);

  Interpret interpret_;
  HashIndex meanings_;
  std::vector<Several> several_;
  std::vector<FrameId> frames_;
  FrameId only_;
};

// The hashes of a block's lines, made in one go: that is faster than one at a time, and the tables can be
// told in advance what will be looked up.
class LineHashes {
 public:
  void set(const LineBlock& block);

  // `table` is where the next lines will probably be looked up.
  const WideHash& at(std::size_t line, const LineTable& table) const {
    if (line + kAhead < hashes_.size()) table.prefetch(hashes_[line + kAhead]);
    return hashes_[line];
  }
  WideHash of(std::string_view text) const { return hash_line(text, keys_); }

 private:
  // A look-up waits for memory some fifty times longer than it works; so many are under way at once.
  static constexpr std::size_t kAhead = 12;

  const WideHashKeys keys_ = wide_hash_keys();
  std::vector<WideHash> hashes_;
};

// Builds stacks from lines that come innermost first.
class StackBuilder {
 public:
  explicit StackBuilder(StackTable& stacks) : stacks_(stacks) { discard(); }

  // False if the line is not one of a stack.
  bool add(LineTable& table, const WideHash& hash, std::string_view line) {
    const auto frames = table.find(hash, line);
    if (!frames) return false;
    for (std::size_t i = frames->size(); i-- != 0;) add((*frames)[i]);
    return true;
  }

  // The stack of what was added since the last call, below `root`, by its number among the distinct ones.
  std::uint32_t finish(StackId root);
  void discard();

  StackId stack(std::uint32_t number) const { return distinct_[number]; }

  bool is_empty() const { return frames_.empty(); }

 private:
  void add(FrameId frame) {
    frames_.push_back(frame);
    hash_ = extend(hash_, frame.value, 0, keys_);
  }
  StackId push(StackId caller, FrameId frame);

  StackTable& stacks_;
  const WideHashKeys keys_ = wide_hash_keys();
  HashIndex known_;  // by the hash of frames and root: 1 + number
  std::vector<StackId> distinct_;
  std::vector<StackId> last_callees_;  // by caller: it is often the same callee again
  std::vector<FrameId> frames_;        // innermost first
  WideHash hash_;
};

}  // namespace nodescope
