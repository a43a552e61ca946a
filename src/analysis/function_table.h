#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/labels.h"
#include "model/profile.h"

namespace nodescope {

enum class GroupBy : std::uint8_t {
  kFunction,
  kFile,     // source file; the module for code without one
  kPackage,  // "express", "@scope/name", "(node internals)", "(my code)", "libcrypto.so.3", "[kernel]"
  kModule,   // binary or library
  kKind,     // "js", "native", …
  kProcess,  // "node 4711"
  kThread,   // "node 4712"
};

std::optional<GroupBy> group_by_of(std::string_view name);
std::string_view to_string(GroupBy group);

enum class SortBy : std::uint8_t { kSelf, kTotal, kName };

struct FunctionTableOptions {
  EventId event;
  CountBy count = CountBy::kWeight;
  GroupBy group = GroupBy::kFunction;
  LabelOptions labels;
  SortBy sort = SortBy::kSelf;
  // Samples before this one do not count: for a view of the last seconds.
  std::size_t first_sample = 0;

  bool operator==(const FunctionTableOptions&) const = default;
};

struct FunctionRow {
  std::string name;
  FrameKind kind = FrameKind::kUnknown;  // of the group's first frame; kUnknown where it makes no sense
  JsTier tier = JsTier::kNone;           // kNone where tiers are merged
  std::uint64_t self = 0;
  std::uint64_t total =
      0;  // recursion counted once: a sample counts if the function is anywhere on its stack
  std::uint64_t samples = 0;         // behind `self`
  Origin origin = Origin::kUnknown;  // of a function
  LabelParts parts;                  // of a function, else the name alone
  LabelSource source;                // of a JavaScript function

  bool operator==(const FunctionRow&) const = default;
};

// Rows that are functions, or kinds, have one; a file, say, has code of several.
constexpr bool has_kinds(GroupBy group) {
  return group == GroupBy::kFunction || group == GroupBy::kKind;
}

struct FunctionTable {
  GroupBy group = GroupBy::kFunction;
  std::vector<FunctionRow> rows;  // self sums to `total`; samples without any frame are a row "[no stack]"
  std::uint64_t total = 0;
  Unit unit = Unit::kSamples;
  bool clipped = false;  // counts add up to more than 2^62: what came behind counts less, or nothing
};

FunctionTable derive_function_table(const Profile& profile, const FunctionTableOptions& options);

// "1,234", "1.50 s", "3.2 MB".
std::string human_count(std::uint64_t value, Unit unit);

}  // namespace nodescope
