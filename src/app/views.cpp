#include "app/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "app/function_report.h"
#include "app/note.h"
#include "app/output.h"
#include "app/report_html.h"
#include "base/text.h"
#include "formats/folded/folded.h"
#include "render/flame_svg.h"

namespace nodescope {

namespace {

Result<void> write_svg(const Profile& profile, const ViewOptions& view, ByteSink& sink) {
  CallTreeOptions tree;
  tree.count = view.count;
  tree.root = RootBy::kThreadName;
  const auto report = write_flame_svg(profile, tree, {}, sink);
  if (!report) return std::unexpected(report.error());
  return {};
}

Result<void> write_table(const Profile& profile, const ViewOptions& view, ByteSink& sink) {
  FunctionTableOptions options;
  options.count = view.count;
  return sink.write(function_table_text(derive_function_table(profile, options), {}));
}

Result<void> write_html(const Profile& profile, const ViewOptions& view, ByteSink& sink) {
  ReportHtml report(sink);
  if (auto added = report.add(view.name, profile); !added) return added;
  return report.finish();
}

bool has_one_event(std::string_view format) {
  constexpr std::array<std::string_view, 3> kFormats = {"cpuprofile", "heapprofile", "folded"};
  return std::ranges::find(kFormats, format) != kFormats.end();
}

std::vector<Writer> make_writers() {
  std::vector<Writer> writers;
  for (const Format* format : all_formats()) {
    if (format->write == nullptr) continue;
    const auto write = [format](const Profile& profile, const ViewOptions&, ByteSink& sink) {
      return format->write(profile, {}, sink);
    };
    const bool is_binary = format->name == "pprof" || format->name == "nscope";
    writers.push_back({format->name, format->extension, format->description, !is_binary, write});
    writers.back().has_one_time_line = format->name == "cpuprofile";
    writers.back().has_one_event = has_one_event(format->name);
  }
  writers.push_back({"svg", ".svg", "interactive flame graph", false, write_svg, false, true});
  writers.push_back({"html", ".html", "the page with the profile inside", false, write_html});
  writers.push_back({"table", ".txt", "functions by self and total", true, write_table, false, true});
  return writers;
}

// The event that a format with one event keeps: a heap profile counts bytes.
EventId kept_event(const Writer& writer, const Profile& profile) {
  const auto& events = profile.events();
  const auto found = std::ranges::find(events, Unit::kBytes, &Event::unit);
  if (writer.name != "heapprofile" || found == events.end()) return EventId{};
  return EventId{static_cast<std::size_t>(found - events.begin())};
}

void note_other_events(const Writer& writer, const Profile& profile, const std::string& target) {
  const bool keeps_both = writer.name == "folded" && has_two_counts(profile);
  if (!writer.has_one_event || keeps_both || profile.events().size() < 2) return;
  const EventId kept = kept_event(writer, profile);
  std::uint64_t left_out = 0;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    if (profile.samples.context(i).event != kept) ++left_out;
  }
  if (left_out == 0) return;
  note(
      "nodescope: {}: a {} has one event, {}: {} samples of others are left out (--event takes one of "
      "them)\n",
      target, writer.extension, printable(profile.text(profile.event(kept).name)), with_thousands(left_out));
}

std::size_t sampled_threads(const Profile& profile) {
  std::set<std::uint32_t> threads;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    threads.insert(profile.samples.context(i).thread.value);
  }
  return threads.size();
}

}  // namespace

const std::vector<Writer>& all_writers() {
  static const std::vector<Writer> writers = make_writers();
  return writers;
}

std::optional<Writer> find_writer(std::string_view name) {
  const auto found = std::ranges::find(all_writers(), name, &Writer::name);
  if (found == all_writers().end()) return std::nullopt;
  return *found;
}

std::optional<Writer> writer_of_path(std::string_view path) {
  std::optional<Writer> best;
  for (const Writer& writer : all_writers()) {
    if (writer.extension.empty() || !path.ends_with(writer.extension)) continue;
    if (!best || writer.extension.size() > best->extension.size()) best = writer;
  }
  return best;
}

Result<void> write_as(const Writer& writer, const Profile& profile, const ViewOptions& view,
                      const std::string& path) {
  const Readers readers = profile.sources.empty() ? Readers::kByUmask : Readers::kOwner;
  auto written =
      write_output(path, [&](ByteSink& sink) { return writer.write(profile, view, sink); }, readers);
  if (!written) return written;
  const std::string target = path == "-" ? "standard output" : printable(path);
  note_other_events(writer, profile, target);
  if (!writer.has_one_time_line) return written;
  if (const std::size_t threads = sampled_threads(profile); threads > 1) {
    note(
        "nodescope: {}: a {} has one time line: the samples of {} threads come one after the other "
        "(convert --thread keeps one)\n",
        target, writer.extension, threads);
  }
  return written;
}

}  // namespace nodescope
