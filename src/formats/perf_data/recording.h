#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/flat_map.h"
#include "base/result.h"
#include "binary/build_id.h"
#include "perf/abi.h"
#include "perf/event_attributes.h"

namespace nodescope::perf {

// What a perf.data says about itself, from its header or, in pipe mode, from records.
struct Recording {
  EventAttributes events;
  std::map<std::string, std::string> facts;
  std::string os_release;
  std::string architecture;
  FlatMap<std::string, BuildId> build_ids;  // by path
  std::optional<BuildId> kernel_build_id;
  std::int64_t clock_offset_ns = 0;
};

// The parts of the file, cut to what is there.
struct FileParts {
  std::span<const std::byte> records;
  std::uint64_t records_offset = 0;  // in the file, for messages
  bool is_pipe = false;
};

// Fills `recording` from the header of `file`.  Damage behind the header costs what is damaged.
Result<FileParts> parse_file_header(std::span<const std::byte> file, Recording& recording,
                                    Diagnostics& diagnostics);

// One HEADER_* feature, which is a section of the file or a record of pipe mode.
void parse_feature(Feature feature, std::span<const std::byte> content, Recording& recording,
                   Diagnostics& diagnostics);

// The body of a HEADER_ATTR record.
void parse_attribute_record(std::span<const std::byte> body, Recording& recording, Diagnostics& diagnostics);
// The body of a HEADER_BUILD_ID record.
void parse_build_id_record(std::uint16_t misc, std::span<const std::byte> body, Recording& recording);
// The body of an EVENT_UPDATE record.
void parse_event_update(std::span<const std::byte> body, Recording& recording);

}  // namespace nodescope::perf
