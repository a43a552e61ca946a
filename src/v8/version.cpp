#include "v8/version.h"

namespace nodescope::v8 {

std::optional<Version> parse_version(std::string_view text) {
  const auto numbers = parse_dotted_numbers(text.substr(0, text.find('-')));
  if (!numbers || numbers->size() < 3) return std::nullopt;
  return Version{(*numbers)[0], (*numbers)[1], (*numbers)[2]};
}

}  // namespace nodescope::v8
