#include <cstdint>
#include <string_view>

#include "app/node_report_text.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  MemorySource source(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  const auto report = read_node_report(source);
  if (!report) {
    NODESCOPE_CHECK(!report.error().message.empty());
    return 0;
  }
  NODESCOPE_CHECK(node_report_text(*report).find('\x1B') == std::string::npos);
  StringSink sink;
  NODESCOPE_CHECK(write_node_report_json(*report, sink).has_value());
  return 0;
}
