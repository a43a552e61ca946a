#pragma once

#include <string>
#include <string_view>

namespace nodescope {

// The page as it is embedded, gzipped.
extern const std::string_view kPageGzip;

// The page as HTML.
std::string page_html();

// Where recordings go in a page that has no server.  page_html() has it once.
inline constexpr std::string_view kDataMark = "<!--nodescope-data-->";

// The content-security policy that the page itself declares: it knows the hashes of its script and style.
// Nothing at all may be loaded where a page has none.
std::string_view policy_in(std::string_view html);

}  // namespace nodescope
