#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace nodescope {

// What stands at a place of generated code where a function is said to begin: V8 says it of the "(" of the
// parameters, of the one parameter of an arrow, or of the "class" whose constructor is not written.
struct GeneratedHead {
  std::size_t name_begin = 0;  // of the name right before the parameters
  std::size_t name_size = 0;   // 0: none there
};

// Nothing if no function begins there.  Names that are keywords ("function") are none.
std::optional<GeneratedHead> head_at(std::string_view text, std::size_t offset);

// Whether `text` can all be within the head of one function, as between a name and "(".
bool is_within_head(std::string_view text);

// The name or keyword that begins at `offset`; empty if there is none.
std::string_view word_at(std::string_view text, std::size_t offset);

}  // namespace nodescope
