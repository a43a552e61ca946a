#include "formats/pprof/tables.h"

#include <fmt/format.h>

#include <protozero/exception.hpp>

namespace nodescope::pprof {

namespace {

using protozero::data_view;

constexpr std::string_view kMalformed = "parts of the profile are malformed";
constexpr std::string_view kDuplicateId = "ids that are used twice: the first counts";

// Reads the top-level fields into `tables`.
class TableParser {
 public:
  TableParser(Tables& tables, Diagnostics& diagnostics) : tables_(tables), diagnostics_(diagnostics) {}

  void number(ProfileField field, std::uint64_t value);
  void bytes(ProfileField field, data_view part);

 private:
  void part(ProfileField field, data_view message);
  void mapping(data_view message);
  void location(data_view message);
  void function(data_view message);
  void index(IdIndex& ids, std::uint64_t id, std::size_t place);

  Tables& tables_;
  Diagnostics& diagnostics_;
};

ValueType parse_value_type(data_view message) {
  ValueType result;
  for_each_number<ValueTypeField>(message, [&](ValueTypeField field, std::uint64_t value) {
    if (field == ValueTypeField::kType) result.type = value;
    if (field == ValueTypeField::kUnit) result.unit = value;
  });
  return result;
}

LineEntry parse_line(data_view message) {
  LineEntry result;
  for_each_number<LineField>(message, [&](LineField field, std::uint64_t value) {
    if (field == LineField::kFunctionId) result.function_id = value;
    if (field == LineField::kLine) result.line = value;
    if (field == LineField::kColumn) result.column = value;
  });
  return result;
}

void TableParser::number(ProfileField field, std::uint64_t value) {
  switch (field) {
    case ProfileField::kDropFrames:
      tables_.drop_frames = value;
      break;
    case ProfileField::kKeepFrames:
      tables_.keep_frames = value;
      break;
    case ProfileField::kTimeNanos:
      tables_.time_nanos = static_cast<std::int64_t>(value);
      break;
    case ProfileField::kDurationNanos:
      tables_.duration_nanos = static_cast<std::int64_t>(value);
      break;
    case ProfileField::kPeriod:
      tables_.period = static_cast<std::int64_t>(value);
      break;
    case ProfileField::kComment:
      tables_.comments.push_back(value);
      break;
    case ProfileField::kDefaultSampleType:
      tables_.default_sample_type = value;
      break;
    case ProfileField::kDocUrl:
      tables_.doc_url = value;
      break;
    default:
      break;
  }
}

void TableParser::bytes(ProfileField field, data_view message) {
  try {
    part(field, message);
  } catch (const protozero::exception&) {
    diagnostics_.warn(kMalformed, fmt::format("field {}", static_cast<unsigned>(field)));
  }
}

void TableParser::part(ProfileField field, data_view message) {
  switch (field) {
    case ProfileField::kSampleType:
      tables_.sample_types.push_back(parse_value_type(message));
      break;
    case ProfileField::kSample:
      ++tables_.sample_count;
      break;
    case ProfileField::kMapping:
      mapping(message);
      break;
    case ProfileField::kLocation:
      location(message);
      break;
    case ProfileField::kFunction:
      function(message);
      break;
    case ProfileField::kStringTable:
      tables_.strings.push_back(as_view(message));
      break;
    case ProfileField::kPeriodType:
      tables_.period_type = parse_value_type(message);
      break;
    case ProfileField::kComment:
      for_each_packed(message, [&](std::uint64_t comment) { tables_.comments.push_back(comment); });
      break;
    default:
      break;
  }
}

void TableParser::mapping(data_view message) {
  std::uint64_t id = 0;
  MappingEntry entry;
  for_each_number<MappingField>(message, [&](MappingField field, std::uint64_t value) {
    if (field == MappingField::kId) id = value;
    if (field == MappingField::kMemoryStart) entry.start = value;
    if (field == MappingField::kMemoryLimit) entry.limit = value;
    if (field == MappingField::kFileOffset) entry.file_offset = value;
    if (field == MappingField::kFilename) entry.file = value;
    if (field == MappingField::kBuildId) entry.build_id = value;
  });
  index(tables_.mapping_ids, id, tables_.mappings.size());
  tables_.mappings.push_back(entry);
}

void TableParser::location(data_view message) {
  std::uint64_t id = 0;
  LocationEntry entry;
  entry.first_line = tables_.lines.size();
  for_each_field<LocationField>(
      message,
      [&](LocationField field, std::uint64_t value) {
        if (field == LocationField::kId) id = value;
        if (field == LocationField::kMappingId) entry.mapping_id = value;
        if (field == LocationField::kAddress) entry.address = value;
      },
      [&](LocationField field, data_view line) {
        if (field == LocationField::kLine) tables_.lines.push_back(parse_line(line));
      });
  entry.line_count = tables_.lines.size() - entry.first_line;
  index(tables_.location_ids, id, tables_.locations.size());
  tables_.locations.push_back(entry);
}

void TableParser::function(data_view message) {
  std::uint64_t id = 0;
  FunctionEntry entry;
  for_each_number<FunctionField>(message, [&](FunctionField field, std::uint64_t value) {
    if (field == FunctionField::kId) id = value;
    if (field == FunctionField::kName) entry.name = value;
    if (field == FunctionField::kSystemName) entry.system_name = value;
    if (field == FunctionField::kFilename) entry.file = value;
    if (field == FunctionField::kStartLine) entry.start_line = value;
  });
  index(tables_.function_ids, id, tables_.functions.size());
  tables_.functions.push_back(entry);
}

void TableParser::index(IdIndex& ids, std::uint64_t id, std::size_t place) {
  if (!ids.add(id, static_cast<std::uint32_t>(place)))
    diagnostics_.warn(kDuplicateId, fmt::format("id {}", id));
}

}  // namespace

bool IdIndex::add(std::uint64_t id, std::uint32_t place) {
  if (find(id)) return false;
  if (id == in_order_.size() + 1) {
    in_order_.push_back(place);
  } else {
    others_.emplace(id, place);
  }
  return true;
}

std::optional<std::uint32_t> IdIndex::find(std::uint64_t id) const {
  if (id - 1 < in_order_.size()) return in_order_[id - 1];
  const auto found = others_.find(id);
  if (found == others_.end()) return std::nullopt;
  return found->second;
}

std::string_view Tables::text(std::uint64_t index, Diagnostics& diagnostics) const {
  if (index < strings.size()) return strings[index];
  if (index != 0) diagnostics.warn("names that are not in the string table", fmt::format("string {}", index));
  return {};
}

Tables parse_tables(std::string_view file, Diagnostics& diagnostics) {
  Tables tables;
  TableParser parser(tables, diagnostics);
  const char* const begin = file.data();
  protozero::pbf_reader reader(begin, file.size());
  try {
    while (reader.next()) {
      const auto field = static_cast<ProfileField>(reader.tag());
      if (reader.has_wire_type(protozero::pbf_wire_type::varint)) {
        parser.number(field, reader.get_uint64());
      } else if (reader.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
        parser.bytes(field, reader.get_view());
      } else {
        reader.skip();
      }
      tables.readable_bytes = static_cast<std::size_t>(reader.data().data() - begin);
    }
  } catch (const protozero::exception& error) {
    diagnostics.error("profile is cut or damaged: the rest is lost",
                      fmt::format("byte {} of {}: {}", tables.readable_bytes, file.size(), error.what()));
  }
  return tables;
}

}  // namespace nodescope::pprof
