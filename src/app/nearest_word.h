#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nodescope {

// The word that was probably meant: one that begins like it, or differs in at most two letters (left out,
// added, another, or two that changed places).  Empty: none is near.
std::string nearest_word(std::string_view typed, std::span<const std::string> words);

}  // namespace nodescope
