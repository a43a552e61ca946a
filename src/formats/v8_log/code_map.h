#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "model/frame.h"

namespace nodescope::v8_log {

// V8's generated code by address.  As in V8's own tick processor, new code takes the place of all code that
// it overlaps.
class CodeMap {
 public:
  void add(std::uint64_t begin, std::uint64_t size, FrameId frame);
  // False if there is no code at `from`.
  bool move(std::uint64_t from, std::uint64_t to);
  void remove(std::uint64_t begin) { codes_.erase(begin); }

  std::optional<FrameId> find(std::uint64_t address) const;

 private:
  struct Code {
    std::uint64_t size = 0;
    FrameId frame;
  };

  std::map<std::uint64_t, Code> codes_;  // by where it begins; they do not overlap
};

}  // namespace nodescope::v8_log
