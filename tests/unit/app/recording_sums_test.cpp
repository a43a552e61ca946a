#include "app/recording_sums.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/function_table.h"
#include "analysis/summed_selection.h"
#include "app/headline.h"
#include "formats/recording/recording.h"
#include "formats/recording/recording_writer.h"

namespace nodescope {
namespace {

constexpr std::uint64_t kPeriodNs = 1'001'001;

class Text final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }
  std::string text_;
};

// Two busy threads, whose samples come second by second as from a live session.
class Busy {
 public:
  explicit Busy(Profile& profile) : profile_(profile) {
    profile_.facts["rate"] = "999 Hz";
    event_ = profile_.intern_event("cpu-clock", Unit::kNanoseconds);
    for (const int pid : {10, 20})
      threads_.push_back(profile_.intern_thread(profile_.intern_process(pid, "node"), pid, "node"));
    for (std::size_t i = 0; i < 500; ++i) {
      Frame frame;
      frame.kind = i % 9 == 0 ? FrameKind::kGc : FrameKind::kJs;
      frame.function = profile_.strings.intern(fmt::format("f{}", i));
      frame.file = profile_.strings.intern("/app/main.js");
      stacks_.push_back(
          profile_.stacks.push(i % 7 == 0 ? kEmptyStack : stacks_.back(), profile_.frames.intern(frame)));
    }
  }

  void add_second() {
    for (std::size_t i = 0; i < 2 * 999; ++i, ++taken_) {
      const SampleContext context{threads_[i % 2], static_cast<std::int32_t>(i % 2), event_};
      profile_.samples.add({time_ns_, stacks_[taken_ * 31 % stacks_.size()], context, kPeriodNs});
      if (i % 2 == 1) time_ns_ += kPeriodNs;
    }
    profile_.markers.push_back({time_ns_, 60'000'000, threads_[0], MarkerKind::kStall, StringId{}});
    profile_.markers.push_back(
        {time_ns_, 2'000'000, threads_[0], MarkerKind::kGc, profile_.strings.intern("Scavenge: x")});
  }

 private:
  Profile& profile_;
  EventId event_;
  std::vector<ThreadId> threads_;
  std::vector<StackId> stacks_;
  std::int64_t time_ns_ = 1'000'000'000;
  std::size_t taken_ = 0;
};

std::vector<std::string> rows_of(const Profile& profile) {
  std::vector<std::string> rows;
  for (const FunctionRow& row : derive_function_table(profile, {}).rows)
    rows.push_back(fmt::format("{} {} {}", row.name, row.self, row.total));
  return rows;
}

TEST(RecordingSums, GiveTheNumbersOfTheWholeRecording) {
  constexpr int kSeconds = 300;
  Profile whole;
  Profile rotated;
  Busy all(whole);
  Busy parts(rotated);
  Text file;
  RecordingWriter writer(file);
  RecordingSums sums;
  std::size_t most_bytes = 0;
  for (int second = 0; second < kSeconds; ++second) {
    all.add_second();
    parts.add_second();
    most_bytes = std::max(most_bytes, rotated.samples.memory_bytes());
    ASSERT_TRUE(writer.append(rotated));
    sums.add(rotated);
    rotated.samples = {};
    rotated.markers.clear();
    writer.forget_samples();
  }
  ASSERT_TRUE(writer.finish(rotated));
  EXPECT_LT(most_bytes, 100'000u) << "of one second, whatever the length";

  const Accounting accounting = sums.accounting(rotated);
  sums.put_into(rotated);
  EXPECT_EQ(accounting, derive_accounting(whole));
  EXPECT_EQ(rows_of(rotated), rows_of(whole));
  EXPECT_EQ(derive_cause_totals(rotated, {}, CountBy::kWeight)->by,
            derive_cause_totals(whole, {}, CountBy::kWeight)->by);
  EXPECT_LT(rotated.samples.size(), 2000u);
  const std::string headline_of_whole = headline(whole);
  EXPECT_TRUE(headline_of_whole.starts_with(headline_of_sums(rotated, accounting))) << headline_of_whole;
  EXPECT_EQ(sums.turns().stalls_line(),
            "event loop: 300 stalls of 50.0 ms or more, measured; longest 60.0 ms\n");
  EXPECT_EQ(sums.turns().collections_line(), "collector: Scavenge 600.0 ms in 300 pauses, longest 2.0 ms\n");

  MemorySource source(file.text_, "r.nscope");
  const auto again = kRecordingFormat.read(source, {});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->samples.size(), whole.samples.size());
  EXPECT_EQ(again->markers.size(), whole.markers.size());
  EXPECT_EQ(rows_of(*again), rows_of(whole));
  EXPECT_EQ(headline(*again), headline_of_whole);
}

}  // namespace
}  // namespace nodescope
