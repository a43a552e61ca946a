#pragma once

// Field numbers of pprof's profile.proto, and what reading its messages has in common.

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>
#include <string_view>

namespace nodescope::pprof {

enum class ProfileField : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kDropFrames = 7,
  kKeepFrames = 8,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
  kDocUrl = 15,
};

enum class ValueTypeField : protozero::pbf_tag_type { kType = 1, kUnit = 2 };

enum class SampleField : protozero::pbf_tag_type { kLocationId = 1, kValue = 2, kLabel = 3 };

enum class LabelField : protozero::pbf_tag_type { kKey = 1, kStr = 2, kNum = 3, kNumUnit = 4 };

enum class MappingField : protozero::pbf_tag_type {
  kId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFileOffset = 4,
  kFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9,
  kHasInlineFrames = 10,
};

enum class LocationField : protozero::pbf_tag_type {
  kId = 1,
  kMappingId = 2,
  kAddress = 3,
  kLine = 4,
  kIsFolded = 5
};

enum class LineField : protozero::pbf_tag_type { kFunctionId = 1, kLine = 2, kColumn = 3 };

enum class FunctionField : protozero::pbf_tag_type {
  kId = 1,
  kName = 2,
  kSystemName = 3,
  kFilename = 4,
  kStartLine = 5,
};

// Calls `number(field, value)` for each number in `message` and `bytes(field, view)` for each part with a
// length; skips the rest.  Throws protozero::exception on malformed bytes.
template <typename Field, typename Number, typename Bytes>
void for_each_field(protozero::data_view message, Number number, Bytes bytes) {
  protozero::pbf_reader reader(message);
  while (reader.next()) {
    const auto field = static_cast<Field>(reader.tag());
    if (reader.has_wire_type(protozero::pbf_wire_type::varint)) {
      number(field, reader.get_uint64());
    } else if (reader.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
      bytes(field, reader.get_view());
    } else {
      reader.skip();
    }
  }
}

template <typename Field, typename Number>
void for_each_number(protozero::data_view message, Number number) {
  for_each_field<Field>(message, number, [](Field, protozero::data_view) {});
}

// Calls `number` for each number of a packed repeated field.
template <typename Number>
void for_each_packed(protozero::data_view bytes, Number number) {
  const char* next = bytes.data();
  const char* const end = next + bytes.size();
  while (next != end) number(protozero::decode_varint(&next, end));
}

inline std::string_view as_view(protozero::data_view bytes) {
  return {bytes.data(), bytes.size()};
}

// Whether `head` begins a profile: messages that are known, with fields that are known, of the right types.
bool is_profile(std::string_view head);

}  // namespace nodescope::pprof
