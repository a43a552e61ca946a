#include "app/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/cause.h"
#include "app/function_report.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::size_t kFixedLines = 6;
constexpr char kBackspace = '\b';
constexpr char kDelete = '\x7F';
constexpr char kEscape = '\033';

void type_filter(TopView& view, char key) {
  if (key == '\n' || key == '\r') {
    view.typing_filter = false;
  } else if (key == kEscape) {
    view.typing_filter = false;
    view.filter.clear();
  } else if (key == kBackspace || key == kDelete) {
    if (!view.filter.empty()) view.filter.pop_back();
  } else if (static_cast<unsigned char>(key) >= ' ') {
    view.filter += key;
  }
}

SortBy next_sort(SortBy sort) {
  return sort == SortBy::kSelf ? SortBy::kTotal : sort == SortBy::kTotal ? SortBy::kName : SortBy::kSelf;
}

std::string_view name_of(SortBy sort) {
  return sort == SortBy::kSelf ? "self" : sort == SortBy::kTotal ? "total" : "name";
}

// Cut at the end, on the border of a character.
std::string fit(const std::string& line, std::size_t columns) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins_character = (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;
    if (begins_character && seen++ == columns) return line.substr(0, i);
  }
  return line;
}

std::string rows_text(const FunctionTable& table, const TopView& view, TopSize size) {
  std::string text;
  const std::size_t fixed = kFixedLines + (view.loops.empty() ? 0 : 1);
  std::size_t left = size.rows > fixed ? size.rows - fixed : 1;
  for (const FunctionRow& row : table.rows) {
    if (left == 0) break;
    if (!view.by_thread && !view.filter.empty() && !row.name.contains(view.filter)) continue;
    const std::string line =
        fmt::format("{:>6.1f} % {:>6.1f} %  {:<8} {:<11}  {}", percent(row.self, table.total),
                    percent(row.total, table.total), view.by_thread ? "" : to_string(row.kind),
                    to_string(row.tier), printable(row.name));
    text += fit(line, size.columns) + "\n";
    --left;
  }
  return text;
}

// Why threads were on the CPU, in the words and numbers of the other commands and of the page.
std::string headline(const Profile& profile, std::size_t first_sample) {
  std::string text = causes_text(sum_causes(profile, first_sample));
  if (!text.empty()) text.pop_back();  // the end of the line
  return text;
}

}  // namespace

bool press_key(TopView& view, char key) {
  if (view.typing_filter) {
    type_filter(view, key);
    return true;
  }
  switch (key) {
    case 'q':
      return false;
    case 's':
      view.sort = next_sort(view.sort);
      break;
    case 't':
      view.by_thread = !view.by_thread;
      break;
    case 'a':
      view.since_begin = !view.since_begin;
      break;
    case 'p':
    case ' ':
      view.paused = !view.paused;
      break;
    case '/':
      view.typing_filter = true;
      view.filter.clear();
      break;
    default:
      break;
  }
  return true;
}

std::size_t SampleWindow::first_sample(Time now, std::size_t samples) {
  marks_.push_back({now, samples});
  while (marks_.size() > 1 && now - marks_[1].time >= length_) marks_.pop_front();
  return marks_.front().samples;
}

std::string top_text(const Profile& profile, const SamplingCounts& counts, const TopView& view,
                     std::size_t first_sample, TopSize size) {
  FunctionTableOptions options;
  options.first_sample = view.since_begin ? 0 : first_sample;
  options.group = view.by_thread ? GroupBy::kThread : GroupBy::kFunction;
  options.sort = view.sort;
  options.labels.merge_tiers = false;
  const FunctionTable table = derive_function_table(profile, options);

  const std::string node = profile.facts.contains("node") ? " · Node.js " + profile.facts.at("node") : "";
  std::string text = fit(fmt::format("nodescope top{} · {} samples · {} lost · {}{}", node,
                                     with_thousands(counts.in_profile()), with_thousands(counts.lost),
                                     view.since_begin ? "since the beginning" : "the last seconds",
                                     view.paused ? " · PAUSED" : ""),
                         size.columns) +
                     "\n";
  text += fit(table.total == 0 ? "nothing is on the CPU" : headline(profile, options.first_sample),
              size.columns) +
          "\n";
  if (!view.loops.empty()) text += fit(view.loops, size.columns) + "\n";
  text += "\n";
  text += fit(fmt::format("{:>8} {:>8}  {:<8} {:<11}  {}", "self", "total", view.by_thread ? "" : "kind",
                          view.by_thread ? "" : "tier", view.by_thread ? "thread" : "function"),
              size.columns) +
          "\n";
  text += rows_text(table, view, size);
  text += "\n";
  if (view.has_ended) return text + fit("The process has ended: this is what it did last", size.columns);
  if (view.typing_filter) return text + fit("filter: " + printable(view.filter) + "_", size.columns);
  const std::string filter = view.filter.empty() ? "" : fmt::format(" [{}]", printable(view.filter));
  return text +
         fit(fmt::format("q quit · s sort ({}) · / filter{} · t threads · a all or last seconds · p pause",
                         name_of(view.sort), filter),
             size.columns);
}

}  // namespace nodescope
