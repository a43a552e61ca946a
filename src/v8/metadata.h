#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "binary/elf_file.h"

namespace nodescope::v8 {

// The numbers that V8 exports for debuggers as symbols v8dbg_NAME, by name.
class Metadata {
 public:
  using Entry = std::pair<std::string, std::int32_t>;

  static Metadata read(const ElfFile& file);

  // A name that ends with "__" finds the first symbol that begins so.
  std::optional<std::int32_t> find(std::string_view name) const;
  std::span<const Entry> with_prefix(std::string_view prefix) const;

 private:
  std::vector<Entry> entries_;  // sorted
};

}  // namespace nodescope::v8
