#include "analysis/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "analysis/cpu_time.h"
#include "analysis/labels.h"
#include "base/text.h"
#include "model/waiting.h"

namespace nodescope {

namespace {

std::string percent_text(double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 1) return "<1 %";
  if (percent > 99 && percent < 100) return ">99 %";
  return fmt::format("{:.0f} %", percent);
}

// "8.3 s", "41 ms", "2 min 5 s": what people say.
std::string spoken_duration(double ns) {
  const double seconds = ns / 1e9;
  if (seconds < 1e-3) return human_duration_ns(static_cast<std::uint64_t>(std::max(0.0, ns)));
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  const std::uint64_t minutes = (whole + 30) / 60;
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string_view words_of(Cause cause) {
  switch (cause) {
    case Cause::kJs:
      return "JavaScript";
    case Cause::kGc:
      return "garbage collection";
    case Cause::kCompile:
      return "compilation";
    case Cause::kRegExp:
      return "regular expressions";
    case Cause::kNative:
      return "native code";
    case Cause::kKernel:
      return "the kernel";
    default:
      return "other code";
  }
}

using ByCause = std::array<double, kCauseCount>;

class VerdictBuilder {
 public:
  VerdictBuilder(const Profile& profile, const Overview& overview, const std::vector<Cause>& causes)
      : profile_(profile), overview_(overview), causes_(causes) {}

  Verdict build(const StallReport* stalls) {
    sum_threads();
    choose_thread();
    if (verdict_.thread) {
      describe_thread();
      find_function();
    }
    verdict_.sentence = sentence(stalls);
    return std::move(verdict_);
  }

 private:
  void sum_threads() {
    by_thread_.resize(profile_.threads().size());
    if (profile_.events().empty()) return;
    const CpuTime cpu_time(profile_, overview_);
    has_time_ = cpu_time.is_known(EventId{}) && overview_.duration_ns > 0;
    weigh(has_time_ ? &cpu_time : nullptr);
  }

  // By CPU time, else by weight: then only shares are told.
  void weigh(const CpuTime* cpu_time) {
    const SampleTable& samples = profile_.samples;
    weights_.resize(samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const SampleContext& context = samples.context(i);
      const Cause cause = causes_[samples.stack(i).index()];
      if (context.event != EventId{} || cause == Cause::kIdle) continue;
      weights_[i] = cpu_time != nullptr ? cpu_time->ns(i) : static_cast<double>(samples.weight(i));
      by_thread_[context.thread.index()][static_cast<std::size_t>(cause)] += weights_[i];
    }
  }

  static double sum_of(const ByCause& causes) {
    double sum = 0;
    for (const double value : causes) sum += value;
    return sum;
  }

  void choose_thread() {
    double most = 0;
    bool chosen_runs_js = false;
    for (std::size_t i = 0; i < by_thread_.size(); ++i) {
      const double sum = sum_of(by_thread_[i]);
      verdict_.all_cpu_ns += has_time_ ? sum : 0;
      const bool runs_js = overview_.threads[i].runs_js;
      if (sum == 0 || (chosen_runs_js && !runs_js)) continue;
      if (sum <= most && chosen_runs_js == runs_js) continue;
      most = sum;
      chosen_runs_js = runs_js;
      verdict_.thread = ThreadId{i};
    }
  }

  void describe_thread() {
    const ByCause& causes = by_thread_[verdict_.thread->index()];
    whole_ = sum_of(causes);
    const auto largest = std::ranges::max_element(causes);
    verdict_.cause = static_cast<Cause>(largest - causes.begin());
    verdict_.cause_share = *largest / whole_;
    if (!has_time_) return;
    verdict_.cpu_ns = whole_;
    // A sample stands for the time around it, so there may be a little more than there was time.
    verdict_.busy = std::min(1.0, whole_ / static_cast<double>(overview_.duration_ns));
  }

  // The own function that has most: itself, and what it calls but other own functions.
  void find_function() {
    LabelTable labels({.style = LabelStyle::kShort});
    const std::vector<LabelId> label_of = labels.add_frames(profile_);
    std::vector<LabelId> own(profile_.stacks.size());
    for (std::size_t i = 1; i < own.size(); ++i) {
      const LabelId label = label_of[profile_.stacks.frame(StackId{i}).index()];
      const bool is_own = labels[label].origin == Origin::kOwn && !labels.source(label).file.empty();
      own[i] = is_own ? label : own[profile_.stacks.caller(StackId{i}).index()];
    }
    std::vector<double> sums(labels.size());
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (profile_.samples.context(i).thread == *verdict_.thread)
        sums[own[profile_.samples.stack(i).index()].index()] += weights_[i];
    }
    sums[0] = 0;
    const auto most = std::ranges::max_element(sums);
    constexpr double kLeastShare = 0.02;
    if (*most < kLeastShare * whole_) return;
    verdict_.function = labels.text(LabelId{static_cast<std::size_t>(most - sums.begin())});
    verdict_.function_share = *most / whole_;
  }

  std::string who() const {
    const Thread& thread = profile_.thread(*verdict_.thread);
    const auto role = overview_.threads[verdict_.thread->index()].role;
    const auto mains = std::ranges::count(overview_.threads, ThreadRole::kMain, &ThreadOverview::role);
    if (role == ThreadRole::kMain && mains <= 1) return "The main thread";
    if (role == ThreadRole::kMain) {
      return fmt::format("The busiest of {} main threads, {},", mains,
                         thread_title(profile_, *verdict_.thread));
    }
    if (role == ThreadRole::kWorker) return fmt::format("Worker {}", thread.tid);
    return fmt::format("Thread {}", thread_title(profile_, *verdict_.thread));
  }

  std::string busy_text() const {
    if (!verdict_.busy) return fmt::format("{}: ", who());
    const double duration = static_cast<double>(overview_.duration_ns);
    constexpr double kIdle = 0.05;
    if (*verdict_.busy < kIdle) {
      return fmt::format("{} was idle {} of {} ({} on a CPU): ", who(), percent_text(1 - *verdict_.busy),
                         spoken_duration(duration), spoken_duration(verdict_.cpu_ns));
    }
    return fmt::format("{} was busy {} of {}: ", who(), percent_text(*verdict_.busy),
                       spoken_duration(duration));
  }

  std::string stalls_text(const StallReport& stalls) const {
    const auto count = std::ranges::count(stalls.stalls, *verdict_.thread, &Stall::thread);
    if (count == 0)
      return stalls.stalls.empty() || !stalls.measured ? "" : " It had no stall, but others had.";
    const auto longest = std::ranges::find(stalls.stalls, *verdict_.thread, &Stall::thread);
    // Of estimates the length is the most that it may have been.
    return fmt::format(" {} {}stall{}, the longest {}{}.", with_thousands(static_cast<std::uint64_t>(count)),
                       stalls.measured ? "" : "possible ", count == 1 ? "" : "s",
                       stalls.measured ? "" : "up to ",
                       spoken_duration(static_cast<double>(longest->duration_ns())));
  }

  // What cannot be told.
  std::string doubt_text() const {
    constexpr double kWorthSaying = 0.01;
    const auto taken = static_cast<double>(overview_.accounting.taken);
    std::string text;
    if (taken == 0) return text;
    const double lost = static_cast<double>(overview_.accounting.lost) / taken;
    const double nameless = static_cast<double>(overview_.resolution.none) / taken;
    if (lost >= kWorthSaying) text += fmt::format(" {} of the samples were lost.", percent_text(lost));
    if (nameless >= kWorthSaying)
      text += fmt::format(" {} of the samples have no function with a name.", percent_text(nameless));
    return text;
  }

  std::string sentence(const StallReport* stalls) const {
    if (!verdict_.thread) return {};
    std::string text =
        busy_text() + fmt::format("{} {}", percent_text(verdict_.cause_share), words_of(verdict_.cause));
    if (!overview_.kinds_known) text = verdict_.busy ? text.substr(0, text.rfind(": ")) : std::string();
    if (!verdict_.function.empty()) {
      text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", percent_text(verdict_.function_share),
                          printable(verdict_.function));
    }
    if (!text.empty()) text += '.';
    if (stalls != nullptr) text += stalls_text(*stalls);
    return text + doubt_text();
  }

  const Profile& profile_;
  const Overview& overview_;
  const std::vector<Cause>& causes_;
  std::vector<ByCause> by_thread_;
  std::vector<double> weights_;  // by sample
  bool has_time_ = false;
  double whole_ = 0;
  Verdict verdict_;
};

}  // namespace

Verdict derive_verdict(const Profile& profile, const Overview& overview, const std::vector<Cause>& causes,
                       const StallReport* stalls) {
  if (counts_waiting(profile)) return {};
  return VerdictBuilder(profile, overview, causes).build(stalls);
}

}  // namespace nodescope
