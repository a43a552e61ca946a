#pragma once

#include <string>

#include "base/byte_sink.h"
#include "base/byte_source.h"
#include "base/result.h"
#include "formats/node_report/node_report.h"

namespace nodescope {

// A page of text: why and where, the JavaScript and the native stack, the heap, what keeps the event loop
// alive.
std::string node_report_text(const NodeReport& report);

Result<void> write_node_report_json(const NodeReport& report, ByteSink& sink);

// Reads the report in `source` and writes one of the two to `output`.
Result<void> show_node_report(ByteSource& source, const std::string& output, bool json);

}  // namespace nodescope
