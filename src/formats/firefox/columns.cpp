#include "formats/firefox/columns.h"

#include <algorithm>
#include <limits>
#include <string>

namespace nodescope::firefox {

namespace {

constexpr std::int64_t kNull = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kMaxColumns = 64;

std::vector<std::int64_t> read_booleans(json::Reader& reader) {
  std::vector<std::int64_t> values;
  auto elements = reader.array();
  while (elements.next()) values.push_back(reader.boolean().value_or(false) ? 1 : 0);
  return values;
}

}  // namespace

void Columns::read(json::Reader& reader, std::string_view scaled, int decimals) {
  auto members = reader.object();
  while (const auto key = members.next()) {
    const std::string name(*key);
    if (reader.peek() == json::Type::kArray) read_column(reader, name, name == scaled ? decimals : 0);
  }
}

void Columns::read_column(json::Reader& reader, std::string_view key, int decimals) {
  if (columns_.size() >= kMaxColumns) return;
  // These are texts and objects, and nothing here needs them.
  constexpr std::string_view kNoNumbers = "data uuid id argumentValues";
  if (!key.empty() && kNoNumbers.contains(key)) return;
  std::vector<std::int64_t> values;
  if (key == "isJS" || key == "relevantForJS") {
    values = read_booleans(reader);
  } else {
    reader.numbers([&](const auto& number) { values.push_back(number ? number->scaled(decimals) : kNull); });
  }
  length_ = std::max(length_, values.size());
  columns_.insert_or_assign(std::string(key), std::move(values));
}

std::optional<std::int64_t> Columns::at(std::string_view column, std::size_t row) const {
  const auto found = columns_.find(column);
  if (found == columns_.end() || row >= found->second.size() || found->second[row] == kNull)
    return std::nullopt;
  return found->second[row];
}

std::optional<std::size_t> Columns::index_at(std::string_view column, std::size_t row,
                                             std::size_t size) const {
  const auto value = at(column, row);
  if (!value || *value < 0 || static_cast<std::uint64_t>(*value) >= size) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

std::uint32_t Columns::place_at(std::string_view column, std::size_t row) const {
  const auto value = at(column, row);
  if (!value || *value < 0) return 0;
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(*value, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace nodescope::firefox
