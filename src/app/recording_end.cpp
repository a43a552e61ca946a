#include "app/recording_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace nodescope {

namespace {

std::string who(const RecordingCourse& course) {
  if (course.has_command) return course.pids.empty() ? "the command" : "the processes and the command";
  return course.pids.size() == 1 ? fmt::format("process {}", course.pids.front()) : "the processes";
}

std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f} s", seconds, seconds == static_cast<double>(static_cast<int>(seconds)) ? 0 : 1);
}

// The command is over: its stacks cannot be looked at any more.
std::string dump_hint(const RecordingCourse& course, std::string_view what) {
  if (!course.is_node) return {};
  for (std::size_t i = 0; i < course.pids.size(); ++i) {
    const ProcessState state = course.states[i];
    if (state == ProcessState::kRunning || state == ProcessState::kStopped)
      return fmt::format("; 'nodescope dump {}' shows {}", course.pids[i], what);
  }
  return {};
}

std::string why_empty(const RecordingCourse& course) {
  // A millisecond is what a process needs to wake up some times.
  constexpr std::uint64_t kNothingNs = 1'000'000;
  const bool one = course.pids.size() + (course.has_command ? 1 : 0) == 1;
  if (course.lost_samples != 0)
    return "all samples were lost: this machine is too busy; try a lower rate (-F)";
  const bool all_stopped =
      !course.has_command && !course.states.empty() &&
      std::ranges::all_of(course.states, [](ProcessState state) { return state == ProcessState::kStopped; });
  if (all_stopped && course.cpu_ns < course.period_ns) {
    return fmt::format("{} {} stopped, by a signal or a debugger{}", who(course), one ? "is" : "are",
                       dump_hint(course, "where"));
  }
  if (course.cpu_ns < kNothingNs)
    return fmt::format("{} used almost no CPU time{}", who(course), dump_hint(course, "where it waits"));
  if (course.cpu_ns < 2 * course.period_ns) {
    return fmt::format("{} used only {} of CPU time, and there is a sample for every {} (-F takes more){}",
                       who(course), human_duration_ns(course.cpu_ns), human_duration_ns(course.period_ns),
                       dump_hint(course, "where it waits"));
  }
  return fmt::format(
      "the kernel gave none, though {} used {} of CPU time; 'nodescope doctor' looks for the cause",
      who(course), human_duration_ns(course.cpu_ns));
}

}  // namespace

std::string course_text(const RecordingCourse& course) {
  std::string text;
  if (course.end == RecordingEnd::kTargetsEnded && course.wanted_seconds && !course.has_command) {
    std::string name = who(course);
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    text += fmt::format("{} ended after {} of {}\n", name, seconds_text(course.seconds),
                        seconds_text(*course.wanted_seconds));
  }
  if (course.samples == 0) text += fmt::format("No samples: {}\n", why_empty(course));
  return text;
}

}  // namespace nodescope
