#pragma once

#include <string_view>

#include "base/diagnostics.h"
#include "formats/otlp/data.h"
#include "json/reader.h"
#include "model/profile.h"

namespace nodescope::otlp {

// What stands before damage is kept, and the damage counted.
Data parse_protobuf(std::string_view file, Diagnostics& diagnostics);
Data parse_json(json::Reader& reader);

// Whether `head` begins like the protobuf message.
bool is_protobuf(std::string_view head);

void build(const Data& data, Profile& profile);

}  // namespace nodescope::otlp
