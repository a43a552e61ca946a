#include "formats/perf_script/sample_line.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::string_view kSpaces = " \t\r";
constexpr std::string_view kRecordPrefix = "PERF_RECORD_";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_space(char c) {
  return kSpaces.find(c) != kNone;
}
bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

std::string_view trim_left(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kSpaces), text.size()));
}
std::string_view trim_right(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(kSpaces));
}
std::string_view last_word(std::string_view text) {
  return text.substr(text.find_last_of(kSpaces) + 1);
}

// Where "482.997627:" is in a line.
struct TimePlace {
  std::size_t begin = 0;
  std::size_t colon = 0;
};

std::optional<TimePlace> find_time(std::string_view line) {
  for (std::size_t colon = line.find(':'); colon != kNone; colon = line.find(':', colon + 1)) {
    if (colon + 1 < line.size() && !is_space(line[colon + 1])) continue;
    std::size_t point = colon;
    while (point != 0 && is_digit(line[point - 1])) --point;
    if (point == colon || point < 2 || line[point - 1] != '.') continue;
    std::size_t begin = --point;
    while (begin != 0 && is_digit(line[begin - 1])) --begin;
    if (begin == point || (begin != 0 && !is_space(line[begin - 1]))) continue;
    return TimePlace{begin, colon};
  }
  return std::nullopt;
}

// Seconds with any number of decimals.
std::optional<std::int64_t> parse_time_ns(std::string_view text) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::size_t point = text.find('.');
  const auto seconds = parse_number<std::int64_t>(text.substr(0, point));
  if (!seconds || *seconds > std::numeric_limits<std::int64_t>::max() / kSecond - 1) return std::nullopt;
  std::int64_t fraction = 0;
  std::int64_t unit = kSecond / 10;
  for (const char c : text.substr(point + 1)) {
    fraction += (c - '0') * unit;
    unit /= 10;
  }
  return *seconds * kSecond + fraction;
}

// "4984", "4984/4990", "-1/-1"
bool is_process_word(std::string_view word) {
  const auto is_id = [](std::string_view id) { return all_digits(id.starts_with('-') ? id.substr(1) : id); };
  const std::size_t slash = word.find('/');
  return is_id(word.substr(0, slash)) && (slash == kNone || is_id(word.substr(slash + 1)));
}

bool is_cpu_word(std::string_view word) {
  return word.size() > 2 && word.front() == '[' && word.back() == ']' &&
         all_digits(word.substr(1, word.size() - 2));
}

bool is_event_word(std::string_view word) {
  return word.size() > 1 && word.ends_with(':');
}

// Adds what "200040 cpu-clock:ppp: …" or "cycles: …" says.
SampleLine with_event(SampleLine line, std::string_view text) {
  text = trim_left(text);
  std::string_view word = first_word(text);
  std::string_view after = trim_left(text.substr(word.size()));
  const std::string_view second = first_word(after);
  if (all_digits(word) && is_event_word(second)) {
    line.period = parse_number<std::uint64_t>(word).value_or(std::numeric_limits<std::uint64_t>::max());
    word = second;
    after = trim_left(after.substr(word.size()));
  }
  line.rest = text;
  if (is_event_word(word)) {
    line.event = word.substr(0, word.size() - 1);
    line.rest = after;
  }
  return line;
}

// Without a time, a number counts as the process's only if an event or a processor follows.
std::optional<SampleLine> parse_without_time(std::string_view text) {
  for (std::size_t end = text.find_first_of(kSpaces); end != kNone; end = text.find_first_of(kSpaces, end)) {
    const std::size_t begin = text.find_first_not_of(kSpaces, end);
    if (begin == kNone) break;
    end = begin + first_word(text.substr(begin)).size();
    if (!is_process_word(text.substr(begin, end - begin))) continue;
    std::string_view after = trim_left(text.substr(end));
    const std::string_view next = first_word(after);
    const bool has_cpu = is_cpu_word(next);
    if (has_cpu) {
      end = static_cast<std::size_t>(next.data() + next.size() - text.data());
      after = text.substr(end);
    }
    SampleLine line;
    line.source = text.substr(0, end);
    line = with_event(line, after);
    if (has_cpu || !line.event.empty() || after.empty()) return line;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SampleLine> parse_sample_line(std::string_view line) {
  const std::string_view text = trim_right(trim_left(line));
  if (text.empty()) return std::nullopt;
  SampleLine sample;
  if (const auto time = find_time(text)) {
    sample.source = trim_right(text.substr(0, time->begin));
    sample.time_ns = parse_time_ns(text.substr(time->begin, time->colon - time->begin));
    return with_event(sample, text.substr(time->colon + 1));
  }
  const bool is_indented = text.data() != line.data();
  if (is_indented) return std::nullopt;
  if (const auto without_time = parse_without_time(text)) return without_time;
  // perf puts a blank behind a name that stands alone.
  if (!line.ends_with(' ')) return std::nullopt;
  sample.source = text;
  sample.is_only_name = true;
  return sample;
}

bool is_record(const SampleLine& line) {
  return (line.event.empty() ? line.rest : line.event).starts_with(kRecordPrefix);
}

std::uint64_t lost_in_record(const SampleLine& line) {
  constexpr std::string_view kLost = " lost ";
  const std::size_t lost = line.rest.find(kLost);
  if (!line.rest.starts_with("PERF_RECORD_LOST") || lost == kNone) return 0;
  return parse_number<std::uint64_t>(first_word(line.rest.substr(lost + kLost.size()))).value_or(0);
}

SampleSource parse_sample_source(std::string_view text) {
  SampleSource source;
  source.comm = text;
  std::string_view rest = text;
  const auto take_last = [&rest] {
    const std::string_view word = last_word(rest);
    rest = trim_right(rest.substr(0, rest.size() - word.size()));
    return word;
  };
  std::string_view word = take_last();
  // With `-F misc` the mode ("U", "K", "S") stands between the processor and the time.
  const bool is_mode = std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
  const std::string_view before = last_word(rest);
  if (is_mode && (is_cpu_word(before) || is_process_word(before))) word = take_last();
  if (is_cpu_word(word)) {
    source.cpu = parse_number<std::int32_t>(word.substr(1, word.size() - 2)).value_or(kUnknownCpu);
    source.comm = rest;
    word = take_last();
  }
  if (!is_process_word(word)) return source;
  source.comm = rest;
  const std::size_t slash = word.find('/');
  const auto first = parse_number<std::int32_t>(word.substr(0, slash));
  if (slash == kNone) {
    source.tid = first;
  } else {
    source.pid = first;
    source.tid = parse_number<std::int32_t>(word.substr(slash + 1));
  }
  return source;
}

}  // namespace nodescope
