#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/byte_sink.h"
#include "formats/cpuprofile/write.h"
#include "formats/folded/folded_io.h"
#include "formats/pprof/pprof.h"
#include "formats/profile_json/profile_json_io.h"
#include "formats/speedscope/speedscope_io.h"
#include "page/flame_request.h"
#include "page/table_rows.h"
#include "page/views.h"
#include "render/flame_svg.h"

namespace nodescope::page {

namespace {

// Files with every sample in them; more would be gigabytes of text.
constexpr std::uint64_t kMaxSamples = 10'000'000;

using Write = Result<void> (*)(const Profile& profile, ByteSink& sink);

template <Result<void> (*kWrite)(const Profile&, const WriteOptions&, ByteSink&)>
Result<void> write_plainly(const Profile& profile, ByteSink& sink) {
  return kWrite(profile, {}, sink);
}

struct SampleFormat {
  std::string_view name;
  std::string_view extension;
  std::string_view mime;
  Write write;
};

constexpr auto kSampleFormats = std::to_array<SampleFormat>({
    {"cpuprofile", ".cpuprofile", "application/json", write_plainly<write_cpuprofile>},
    {"speedscope", ".speedscope.json", "application/json", write_plainly<write_speedscope>},
    {"json", ".json", "application/json", write_plainly<write_profile_json>},
    {"pprof", ".pb", "application/octet-stream", pprof::write_message},
});

ExportReply exported(std::string_view bytes, std::string_view extension, std::string_view mime) {
  return {std::string(extension), std::string(mime), {bytes.begin(), bytes.end()}};
}

Result<ExportReply> export_samples(Session& session, const Query& query, const SampleFormat& format) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const auto sums = session.sums(*asked);
  if (!sums) return std::unexpected(sums.error());
  if ((*sums)->samples > kMaxSamples) {
    return fail(ErrorCode::kLimit,
                "more than 10 million samples: choose a shorter time, or use nodescope convert");
  }
  const auto selected = copy_selection(session.recording(*asked).profile, asked->selection);
  if (!selected) return std::unexpected(selected.error());
  StringSink sink;
  if (auto written = format.write(selected->profile, sink); !written) return std::unexpected(written.error());
  return exported(sink.text(), format.extension, format.mime);
}

Result<ExportReply> export_folded(Session& session, const Query& query) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const auto sums = session.sums(*asked, true);
  if (!sums) return std::unexpected(sums.error());
  StringSink sink;
  if (auto written = write_folded((*sums)->profile, {}, sink); !written)
    return std::unexpected(written.error());
  return exported(sink.text(), ".folded", "text/plain");
}

Result<ExportReply> export_svg(Session& session, const Query& query) {
  const auto tree = derive_flame(session, query);
  if (!tree) return std::unexpected(tree.error());
  FlameOptions options;
  options.inverted = query.flag("reversed") || query.text("shape") == "icicle";
  options.title = query.text("title").substr(0, 200);
  if (const std::string_view name = query.text("palette"); !name.empty()) {
    const auto palette = palette_of(name);
    if (!palette) return fail(ErrorCode::kUsage, fmt::format("palette={}: there is no such palette", name));
    options.palette = *palette;
  }
  if (query.text("theme") == "light") options.background = "#ffffff";
  if (query.text("theme") == "dark") options.background = "#14171c";
  if (auto fine = check_flame_options(options); !fine) return std::unexpected(fine.error());
  StringSink sink;
  const auto written = write_flame_svg(*tree, options, sink);
  if (!written) return std::unexpected(written.error());
  return exported(sink.text(), ".svg", "image/svg+xml");
}

// A spreadsheet takes what begins with one of these for a formula.
bool looks_like_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").contains(text.front());
}

std::string csv_cell(std::string_view text) {
  std::string cell = "\"";
  if (looks_like_formula(text)) cell += '\'';
  for (const char c : text) {
    if (c == '"') cell += '"';
    cell += c;
  }
  return cell + '"';
}

Result<ExportReply> export_csv(Session& session, const Query& query) {
  auto request = parse_table_request(session, query);
  if (!request) return std::unexpected(request.error());
  if (query.text("limit").empty()) request->limit = SIZE_MAX;
  const auto table = derive_table(session, query, *request);
  if (!table) return std::unexpected(table.error());
  std::string csv = table->is_comparison ? "name,place,kind,self,total,before_self,before_total\r\n"
                                         : "name,place,kind,self,total\r\n";
  for (const TableRow& row : table->rows) {
    csv += fmt::format("{},{},{},{},{}", csv_cell(row.parts.name), csv_cell(row.parts.place),
                       to_string(row.kind), row.self, row.total);
    if (table->is_comparison) csv += fmt::format(",{},{}", row.before_self, row.before_total);
    csv += "\r\n";
  }
  return exported(csv, ".csv", "text/csv");
}

}  // namespace

Result<ExportReply> answer_export(Session& session, const Query& query) {
  const std::string_view name = query.text("format");
  if (name == "svg") return export_svg(session, query);
  if (name == "folded") return export_folded(session, query);
  if (name == "csv") return export_csv(session, query);
  const auto format = std::ranges::find(kSampleFormats, name, &SampleFormat::name);
  if (format == kSampleFormats.end()) {
    return fail(ErrorCode::kUsage, fmt::format("format={}: there is no such format", name));
  }
  return export_samples(session, query, *format);
}

}  // namespace nodescope::page
