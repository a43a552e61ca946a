#include "app/report_html.h"

#include <gmock/gmock.h>

#include "app/browser.h"
#include "app/page.h"
#include "app/server/recordings.h"
#include "formats/recording/recording.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string decode_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  unsigned held = 0;
  for (const char c : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<unsigned>(kDigits.find(c));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xFF);
  }
  return bytes;
}

std::string between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t begin = text.find(before) + before.size();
  return std::string(text.substr(begin, text.find(after, begin) - begin));
}

Profile small_profile(int samples) {
  Profile profile;
  const EventId event = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const ThreadId thread = profile.intern_thread(profile.intern_process(1, "node"), 1, "node");
  Frame frame;
  frame.function = profile.strings.intern("</script><script>alert(1)</script>");
  const StackId stack = profile.stacks.push(StackId{}, profile.frames.intern(frame));
  for (int i = 0; i < samples; ++i) {
    Sample sample;
    sample.time_ns = i;
    sample.stack = stack;
    sample.context.thread = thread;
    sample.context.event = event;
    sample.weight = 1;
    profile.samples.add(sample);
  }
  return profile;
}

TEST(Page, IsOneFileWithOneMarkAndAPolicy) {
  const std::string html = page_html();
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_NE(html.find(kDataMark), std::string::npos);
  EXPECT_EQ(html.find(kDataMark), html.rfind(kDataMark));
  EXPECT_THAT(std::string(policy_in(html)), StartsWith("default-src 'none'; "));
  EXPECT_THAT(std::string(policy_in(html)), Not(HasSubstr("unsafe-inline")));
  EXPECT_EQ(policy_in("<html></html>"), "default-src 'none'");
}

TEST(ReportHtml, HoldsRecordingsThatReadBack) {
  for (const int samples : {0, 1, 2, 3, 1000}) {
    const Profile profile = small_profile(samples);
    StringSink sink;
    ReportHtml report(sink);
    ASSERT_TRUE(report.add("a \"b\" <c> & d", profile));
    ASSERT_TRUE(report.finish());
    EXPECT_THAT(sink.text(), Not(HasSubstr(std::string(kDataMark))));
    EXPECT_THAT(sink.text(), HasSubstr("data-name=\"a &quot;b&quot; &lt;c&gt; &amp; d\">"));
    EXPECT_THAT(sink.text(), Not(HasSubstr("alert(1)")));
    const std::string bytes = decode_base64(between(sink.text(), "&amp; d\">", "</script>"));
    MemorySource source(bytes, "report");
    const auto again = kRecordingFormat.read(source, {});
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(testing::to_text(*again), testing::to_text(profile));
  }
}

TEST(ReportHtml, IsThePageWithSomethingInPlaceOfTheMark) {
  StringSink sink;
  ReportHtml report(sink);
  ASSERT_TRUE(report.add("one", small_profile(1)));
  ASSERT_TRUE(report.add("two", small_profile(2)));
  ASSERT_TRUE(report.finish());
  const std::string html = page_html();
  const std::size_t mark = html.find(kDataMark);
  EXPECT_THAT(sink.text(), StartsWith(html.substr(0, mark)));
  EXPECT_TRUE(sink.text().ends_with(html.substr(mark + kDataMark.size())));
  EXPECT_LT(sink.text().find("data-name=\"one\""), sink.text().find("data-name=\"two\""));
}

TEST(Browser, TheAddressGoesToItsPlace) {
  EXPECT_THAT(with_address({"firefox"}, "http://x/"), ElementsAre("firefox", "http://x/"));
  EXPECT_THAT(with_address({"w", "--url=%s", "-n"}, "http://x/"), ElementsAre("w", "--url=http://x/", "-n"));
}

}  // namespace
}  // namespace nodescope
