#include "app/page.h"

#include <cstdint>
#include <memory>

#include "base/check.h"
#include "base/diagnostics.h"
#include "formats/compression.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxBytes = 64u << 20;

}  // namespace

std::string page_html() {
  Diagnostics damage;
  GzipSource source(std::make_unique<MemorySource>(kPageGzip, "page"), damage);
  std::string html;
  const auto read = read_whole(source, html, kMaxBytes);
  NODESCOPE_CHECK(read.has_value() && damage.entries().empty());
  return std::string(as_text(*read));
}

std::string_view policy_in(std::string_view html) {
  constexpr std::string_view kBefore = "<meta http-equiv=\"Content-Security-Policy\" content=\"";
  const std::size_t begin = html.find(kBefore);
  if (begin == std::string_view::npos) return "default-src 'none'";
  html.remove_prefix(begin + kBefore.size());
  return html.substr(0, html.find('"'));
}

}  // namespace nodescope
