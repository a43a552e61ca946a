#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nodescope {

// A place in a text: lines from 1, columns from 1, in UTF-16 units as everywhere in JavaScript.
struct TextPlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  auto operator<=>(const TextPlace&) const = default;
};

// What a source map says about a place: the segment that covers it.
struct MappedPlace {
  static constexpr std::uint32_t kNoName = 0xFFFFFFFF;

  TextPlace generated;  // where the segment begins
  TextPlace original;
  std::uint32_t source = 0;
  std::uint32_t name = kNoName;
  bool covers =
      true;  // false: what was asked for comes from no source, and this is the last segment before it

  bool operator==(const MappedPlace&) const = default;
};

// A source map, version 3, with sections or without (ECMA-426).  Of the text only the ranges are kept in
// which names, sources and mappings are, so that a map of 60 MB takes little more than its text.
//
// The format ties positions in `mappings` to those before, so that any lookup reads all of it: places are
// looked up together.
class SourceMap {
 public:
  // `text` is kept.  `name` is the path or address of the map; sources are relative to it.
  static Result<SourceMap> parse(std::string text, std::string name);

  // The segment for each of `places`, which ascend; nothing for what no source precedes.
  std::vector<std::optional<MappedPlace>> find(std::span<const TextPlace> places) const;

  // To be called for a file to whose first line something was added in front after the map was made.
  void shift_first_line(std::uint32_t columns) { first_line_shift_ = columns; }

  // Whether the mappings stay within a text whose lines have these lengths, in UTF-16 units.
  bool fits(std::span<const std::uint32_t> line_lengths) const;

  // Segments from all over the map, at most about `count`.
  std::vector<MappedPlace> spread_of_segments(std::size_t count) const;

  std::size_t source_count() const { return sources_.size(); }
  // As it is shown: the path of a file, or an address: "webpack://app/src/a.ts".
  std::string source(std::uint32_t index) const;
  // The path of the source's file if it has one to which a map may lead.
  std::optional<std::string> source_file(std::uint32_t index) const;
  // The text of the source, where the map has it.
  std::optional<std::string> content(std::uint32_t index) const;
  std::string symbol(std::uint32_t name) const;
  // The generator says that this is not the program's own code.
  bool is_ignored(std::uint32_t source) const;

  const std::string& name() const { return name_; }
  const std::string& debug_id() const { return debug_id_; }
  std::size_t memory_bytes() const;

 private:
  friend class SourceMapParser;

  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

  struct Source {
    std::uint32_t name = kAbsent;  // where its text begins in text_
    std::uint32_t content = kAbsent;
    std::uint32_t root = kAbsent;
    bool ignored = false;
  };

  // A map without sections is one section.
  struct Section {
    TextPlace begin{1, 1};
    std::uint32_t mappings = 0;
    std::uint32_t mappings_size = 0;
    std::uint32_t first_source = 0;
    std::uint32_t source_count = 0;
    std::uint32_t first_name = 0;
    std::uint32_t name_count = 0;
  };

  template <typename Visit>
  void visit_segments(Visit&& visit) const;
  std::optional<std::string> text_at(std::uint32_t offset, std::size_t limit) const;

  std::string text_;
  std::string name_;
  std::string debug_id_;
  std::uint32_t first_line_shift_ = 0;
  std::vector<Source> sources_;
  std::vector<std::uint32_t> names_;
  std::vector<Section> sections_;
};

}  // namespace nodescope
