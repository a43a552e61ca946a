#include "page/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace nodescope::page {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxParts = 4096;

// What cannot be decoded is taken as it is.
std::string decoded(std::string_view text) {
  return decode_query_value(text).value_or(std::string(text));
}

std::unexpected<Error> refuse(std::string_view key, std::string_view value) {
  return fail(ErrorCode::kUsage, fmt::format("{}={}: not a number that makes sense here", key, value));
}

}  // namespace

Result<Query> Query::parse(std::string_view text) {
  if (text.size() > kMaxBytes) return fail(ErrorCode::kUsage, "the question is too long");
  Query query;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (part.empty()) continue;
    if (query.parts_.size() >= kMaxParts) return fail(ErrorCode::kUsage, "the question has too many parts");
    const std::size_t equals = std::min(part.find('='), part.size());
    query.parts_.emplace_back(decoded(part.substr(0, equals)),
                              decoded(part.substr(std::min(equals + 1, part.size()))));
  }
  return query;
}

std::optional<std::string_view> Query::find(std::string_view key) const {
  const auto found =
      std::ranges::find(parts_, key, [](const auto& part) { return std::string_view(part.first); });
  if (found == parts_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Query::all(std::string_view key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : parts_) {
    if (name == key && !value.empty()) values.push_back(value);
  }
  return values;
}

Result<double> Query::number(std::string_view key, double otherwise, double least, double most) const {
  const std::string_view given = text(key);
  if (given.empty()) return otherwise;
  // strtod would take blanks, "nan" and hexadecimal too.
  if (given.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return refuse(key, given);
  const std::string value(given);
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (end != value.c_str() + value.size() || !(number >= least && number <= most)) return refuse(key, given);
  return number;
}

Result<std::uint32_t> Query::integer(std::string_view key, std::uint32_t otherwise,
                                     std::uint32_t most) const {
  const std::string_view given = text(key);
  if (given.empty()) return otherwise;
  const auto number = parse_number<std::uint32_t>(given);
  if (!number || *number > most) return refuse(key, given);
  return *number;
}

Result<std::vector<std::uint32_t>> Query::integers(std::string_view key, std::uint32_t most) const {
  std::string_view given = text(key);
  std::vector<std::uint32_t> numbers;
  while (!given.empty()) {
    const std::string_view part = given.substr(0, given.find(','));
    given.remove_prefix(std::min(part.size() + 1, given.size()));
    const auto number = parse_number<std::uint32_t>(part);
    if (!number || *number > most) return refuse(key, part);
    numbers.push_back(*number);
  }
  return numbers;
}

Query Query::below(std::string_view prefix) const {
  Query inner;
  for (const auto& [key, value] : parts_) {
    if (key.starts_with(prefix)) inner.parts_.emplace_back(key.substr(prefix.size()), value);
  }
  return inner;
}

}  // namespace nodescope::page
