#pragma once

#include <string>

#include "json/writer.h"
#include "v8/decoded_value.h"

namespace nodescope {

// A value for people: over several lines where it has members.  Text of the program is cleaned.
std::string value_text(const v8::DecodedValue& value);

// On one line, without members.
std::string value_summary(const v8::DecodedValue& value);

// {"type":T,"class":…,"address":…} and what that type has.
void write_value(json::Writer& json, const v8::DecodedValue& value);

}  // namespace nodescope
