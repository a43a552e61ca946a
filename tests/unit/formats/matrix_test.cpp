// Every format that is read, written as every format that is written, and read again: totals and functions
// stay.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/function_table.h"
#include "formats/format.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

struct Input {
  std::string_view format;
  std::string_view path;
};

const std::vector<Input>& inputs() {
  static const std::vector<Input> all = {
      {"perf-script", "tests/golden/perf-script/everything/input"},
      {"folded", "tests/golden/folded/recorded/input"},
      {"folded", "tests/golden/folded/two-counts/input"},
      {"cpuprofile", "tests/golden/cpuprofile/node26/input"},
      {"heapprofile", "tests/golden/heapprofile/node20/input"},
      {"trace-events", "tests/golden/trace-events/node20/input"},
      {"pprof", "tests/golden/pprof/node/input"},
      {"pprof", "tests/golden/pprof/go_heap/input"},
      {"speedscope", "tests/golden/speedscope/sampled/input"},
      {"firefox", "tests/golden/firefox/node20/written"},
      {"firefox", "fuzz/corpus/firefox/samply"},
      {"sentry", "tests/golden/sentry/node20/input"},
      {"v8-log", "tests/golden/v8-log/node22/input"},
      {"v8-ticks", "fuzz/corpus/v8_ticks/small"},
      {"otlp", "tests/golden/otlp/protobuf"},
      {"bpftrace", "fuzz/corpus/bpftrace/stacks"},
      {"bcc", "fuzz/corpus/bcc/offcputime"},
  };
  return all;
}

Result<Profile> read_any(std::string_view content) {
  return read_profile(std::make_unique<MemorySource>(content, "matrix"), {});
}

struct Sums {
  std::uint64_t total = 0;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> functions;  // self and total
};

Sums sums_of(const Profile& profile, EventId event) {
  FunctionTableOptions options;
  options.event = event;
  const FunctionTable table = derive_function_table(profile, options);
  Sums sums;
  sums.total = table.total;
  for (const FunctionRow& row : table.rows) {
    auto& [self, total] = sums.functions[row.name];
    self += row.self;
    total = std::max(total, row.total);  // one name of two kinds: of these only the larger can be compared
  }
  return sums;
}

bool has_one_event(std::string_view format) {
  return format == "cpuprofile" || format == "heapprofile" || format == "folded";
}

EventId kept_event(std::string_view format, const Profile& profile) {
  const auto& events = profile.events();
  const auto bytes = std::ranges::find(events, Unit::kBytes, &Event::unit);
  if (format != "heapprofile" || bytes == events.end()) return EventId{};
  return EventId{static_cast<std::size_t>(bytes - events.begin())};
}

std::optional<EventId> event_named(const Profile& profile, std::string_view name) {
  for (std::size_t i = 0; i < profile.events().size(); ++i) {
    if (profile.text(profile.events()[i].name) == name) return EventId{i};
  }
  return std::nullopt;
}

// Folded text has a module without a name in brackets, as perl writes it ("[[kernel.kallsyms]]"), and no line
// break at the end of a name.
auto find_name(const Sums& sums, std::string_view name) {
  const auto found = sums.functions.find(std::string(name));
  if (found != sums.functions.end()) return found;
  if (name.ends_with('\n')) return sums.functions.find(std::string(name.substr(0, name.size() - 1)));
  return sums.functions.find(fmt::format("[{}]", name));
}

void expect_same(const Profile& before, EventId event, const Profile& after, EventId event_after) {
  const Sums expected = sums_of(before, event);
  const Sums found = sums_of(after, event_after);
  EXPECT_EQ(found.total, expected.total);
  for (const auto& [name, weights] : expected.functions) {
    if (name == "[no stack]") continue;  // folded text gives it to the frame of its thread
    const auto same = find_name(found, name);
    ASSERT_TRUE(same != found.functions.end()) << name;
    EXPECT_EQ(same->second, weights) << name;
  }
}

class Matrix : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Matrix, KeepsTotalsAndFunctions) {
  const Input& input = inputs()[GetParam()];
  const auto before = read_any(testing::read_test_file(input.path));
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(before->facts.at("format"), input.format);
  for (const Format* format : all_formats()) {
    if (format->write == nullptr || format->read == nullptr) continue;
    SCOPED_TRACE(fmt::format("{} as {}", input.path, format->name));
    StringSink sink;
    const auto written = format->write(*before, {}, sink);
    const bool has_bytes =
        std::ranges::find(before->events(), Unit::kBytes, &Event::unit) != before->events().end();
    if (format->name == "heapprofile" && !has_bytes) {
      EXPECT_FALSE(written);
      continue;
    }
    ASSERT_TRUE(written) << written.error().message;
    const auto after = read_any(sink.text());
    ASSERT_TRUE(after) << after.error().message;
    EXPECT_EQ(after->facts.at("format"), format->name);
    if (has_one_event(format->name)) {
      expect_same(*before, kept_event(format->name, *before), *after, EventId{});
      continue;
    }
    for (std::size_t i = 0; i < before->events().size(); ++i) {
      const auto event = event_named(*after, before->text(before->events()[i].name));
      const Sums sums = sums_of(*before, EventId{i});
      if (sums.total == 0) continue;
      ASSERT_TRUE(event) << before->text(before->events()[i].name);
      expect_same(*before, EventId{i}, *after, *event);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Matrix, ::testing::Range<std::size_t>(0, 17), [](const auto& test) {
  std::string name = fmt::format("{}_{}", test.param, inputs()[test.param].format);
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(MatrixInputs, AreAllTaken) {
  EXPECT_EQ(inputs().size(), 17u);
}

}  // namespace
}  // namespace nodescope
