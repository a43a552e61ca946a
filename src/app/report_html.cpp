#include "app/report_html.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "app/page.h"
#include "base/text.h"
#include "formats/recording/recording_writer.h"
#include "render/xml_text.h"

namespace nodescope {

namespace {

// Small rather than quick, because it is mailed.  A day of four threads at 99 Hz has 34 million samples.  If
// they are busy a fifth of the time, it takes 44 to 110 MB with exact times, 28 MB with times to a thousandth
// of their period (never idle: 88 MB); the last twelfth of that would cost ten times as long.
RecordingOptions options_for(std::size_t samples) {
  constexpr std::size_t kManySamples = 4'000'000;
  RecordingOptions options;
  options.samples_per_chunk = 1024 * 1024;
  options.zstd_level = samples > kManySamples ? 9 : 19;
  options.time_step_ns = samples > kManySamples ? 10'000 : 1;
  return options;
}

std::string escaped(std::string_view text) {
  std::string escaped;
  append_xml_text(escaped, text);
  return escaped;
}

// Base64 with padding and without line breaks.
class Base64Sink final : public ByteSink {
 public:
  explicit Base64Sink(ByteSink& out) : out_(out) {}

  Result<void> write(std::string_view bytes) override {
    std::string text;
    text.reserve(bytes.size() / 3 * 4 + 8);
    for (const char c : bytes) {
      group_ = group_ << 8 | static_cast<unsigned char>(c);
      if (++held_ == 3) put_group(text);
    }
    return out_.write(text);
  }

  Result<void> finish() {
    if (held_ == 0) return {};
    const unsigned missing = 3 - held_;
    group_ <<= 8 * missing;
    std::string text;
    put_group(text);
    text.replace(text.size() - missing, missing, missing, '=');
    return out_.write(text);
  }

 private:
  void put_group(std::string& text) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (const unsigned shift : std::to_array<unsigned>({18, 12, 6, 0}))
      text += kDigits[group_ >> shift & 63];
    group_ = 0;
    held_ = 0;
  }

  ByteSink& out_;
  std::uint32_t group_ = 0;
  unsigned held_ = 0;
};

}  // namespace

ReportHtml::ReportHtml(ByteSink& sink) : sink_(sink), page_(page_html()) {}

Result<void> ReportHtml::begin() {
  if (begun_) return {};
  begun_ = true;
  return sink_.write(std::string_view(page_).substr(0, page_.find(kDataMark)));
}

Result<void> ReportHtml::add(const std::string& name, const Profile& profile) {
  if (auto done = begin(); !done) return done;
  auto done = sink_.write(
      fmt::format("<script type=\"application/octet-stream;base64\" data-name=\"{}\">", escaped(name)));
  if (!done) return done;
  Base64Sink base64(sink_);
  if (done = RecordingWriter(base64, options_for(profile.samples.size())).finish(profile); !done) return done;
  if (done = base64.finish(); !done) return done;
  return sink_.write("</script>\n");
}

Result<void> ReportHtml::add_reply(const std::string& question, std::string_view reply) {
  if (auto done = begin(); !done) return done;
  auto done = sink_.write(fmt::format(
      "<script type=\"application/octet-stream;base64\" data-question=\"{}\">", escaped(question)));
  if (!done) return done;
  Base64Sink base64(sink_);
  if (done = base64.write(reply); !done) return done;
  if (done = base64.finish(); !done) return done;
  return sink_.write("</script>\n");
}

Result<void> ReportHtml::finish() {
  if (auto done = begin(); !done) return done;
  return sink_.write(std::string_view(page_).substr(page_.find(kDataMark) + kDataMark.size()));
}

}  // namespace nodescope
