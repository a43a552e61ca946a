#include "app/stall_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/stall_sentence.h"
#include "app/utc_time.h"
#include "base/text.h"
#include "json/writer.h"

namespace nodescope {

namespace {

std::string duration_text(std::int64_t ns) {
  return human_duration_ns(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
}

// "01:23.456" from the first sample.
std::string moment(std::int64_t ns) {
  const std::int64_t ms = std::max<std::int64_t>(ns, 0) / 1'000'000;
  return fmt::format("{:02}:{:02}.{:03}", ms / 60'000, ms / 1000 % 60, ms % 1000);
}

bool has_wall_clock(const StallReport& report) {
  return std::ranges::any_of(report.stalls, [](const Stall& stall) { return stall.wall_ns > 0; });
}

std::string function_text(const Stall& stall) {
  std::string text = stall.function.name;
  if (!stall.function.place.empty()) text += " " + stall.function.place;
  return printable(text);
}

std::string line_of(const Profile& profile, const Stall& stall, bool with_clock) {
  std::string line = fmt::format("{:>9}  ", moment(stall.begin_ns));
  if (with_clock) line += fmt::format("{:>13}  ", stall.wall_ns > 0 ? utc_time_of_day(stall.wall_ns) : "");
  line += fmt::format("{:>10}  {:<16} {}", duration_text(stall.duration_ns()),
                      printable(thread_title(profile, stall.thread)), function_text(stall));
  if (!stall.why.empty()) line += fmt::format(" ({})", printable(stall.why));
  return line + "\n";
}

std::size_t shown(const StallReport& report, std::size_t top) {
  return top == 0 ? report.stalls.size() : std::min(top, report.stalls.size());
}

// Samples cannot prove that there was none; measured turns can.
std::string no_stall_text(const StallReport& report, std::int64_t at_least_ns) {
  const std::string busy = busy_text(report.busy_percent);
  std::string text = report.measured
                         ? fmt::format("No stall of {} or more, measured.\n", duration_text(at_least_ns))
                         : fmt::format("No stall of {} or more could be proven{}{}.\n",
                                       duration_text(at_least_ns), busy.empty() ? "" : " ", busy);
  if (report.longest) {
    text += fmt::format("{}: {} at {}, {}\n", report.measured ? "Longest turn" : "Longest estimate",
                        duration_text(report.longest->duration_ns()), moment(report.longest->begin_ns),
                        function_text(*report.longest));
  }
  return text;
}

}  // namespace

std::string stalls_text(const Profile& profile, const StallReport& report, std::int64_t at_least_ns,
                        std::size_t top) {
  if (report.stalls.empty()) return no_stall_text(report, at_least_ns);
  const bool clock = has_wall_clock(report);
  const std::string count_text =
      report.stalls.size() == 1 ? "1 stall" : with_thousands(report.stalls.size()) + " stalls";
  std::string text = fmt::format("{}\n{} of {} or more, {}\n\n", printable(report.sentence), count_text,
                                 duration_text(at_least_ns),
                                 report.measured ? "measured" : "estimated from samples: at most so long");
  text += fmt::format("{:>9}  {}{:>10}  {:<16} {}\n", "at",
                      clock ? fmt::format("{:<13}  ", "clock (UTC)") : "", "blocked", "thread", "function");
  const std::size_t count = shown(report, top);
  for (std::size_t i = 0; i < count; ++i) text += line_of(profile, report.stalls[i], clock);
  if (count < report.stalls.size()) {
    text += fmt::format("and {} more: --top 0 shows all\n", with_thousands(report.stalls.size() - count));
  }
  return text;
}

Result<void> write_stalls_json(const Profile& profile, const StallReport& report, std::size_t top,
                               ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("sentence").string(report.sentence);
  json.key("measured").boolean(report.measured);
  json.key("busy_percent");
  report.busy_percent ? json.decimal(static_cast<std::int64_t>(*report.busy_percent * 10), 1) : json.null();
  json.key("stalls").begin_array();
  const std::size_t count = shown(report, top);
  for (std::size_t i = 0; i < count; ++i) {
    const Stall& stall = report.stalls[i];
    json.line().begin_object();
    json.key("pid").integer(profile.process(profile.thread(stall.thread).process).pid);
    json.key("tid").integer(profile.thread(stall.thread).tid);
    json.key("from_ns").integer(stall.begin_ns);
    json.key("to_ns").integer(stall.end_ns);
    json.key("wall");
    stall.wall_ns > 0 ? json.string(utc_time(stall.wall_ns)) : json.null();
    json.key("estimated").boolean(stall.estimated);
    json.key("name").string(stall.function.name);
    json.key("place").string(stall.function.place);
    json.key("kind").string(to_string(stall.kind));
    json.key("cause").string(to_string(stall.cause));
    json.key("samples").count(stall.samples);
    json.key("why").string(stall.why);
    json.end_object();
  }
  json.end_array();
  json.line().key("count").count(report.stalls.size());
  json.end_object();
  return json.finish();
}

}  // namespace nodescope
