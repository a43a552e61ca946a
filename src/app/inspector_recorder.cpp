#include "app/inspector_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/coverage_report.h"
#include "app/input.h"
#include "app/live_source_maps.h"
#include "app/note.h"
#include "app/output.h"
#include "app/status_line.h"
#include "app/views.h"
#include "base/text.h"
#include "os/interrupt.h"
#include "os/procfs.h"
#include "target/invocation.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 100;

std::string name_of(const InspectedProcess& process) {
  return process.pid == 0 ? process.address : fmt::format("process {}", process.pid);
}

std::string_view how_it_is_open(const InspectedProcess& process) {
  if (process.was_left_open) return "a recording that was killed has left its inspector open on";
  return process.opened ? "opened its inspector by SIGUSR1 on" : "its inspector is open on";
}

void announce(const InspectorSession& session) {
  for (const InspectedProcess& process : session.processes()) {
    note("nodescope: {}: {} {}\n", name_of(process), how_it_is_open(process), process.address);
    if (process.opened_workers != 0) {
      note("nodescope: {}: Node.js opens those of {} workers of its cluster with it\n", name_of(process),
           process.opened_workers);
    }
  }
}

void tell_outcome(const InspectorSession& session) {
  for (const InspectedProcess& process : session.processes()) {
    if (!process.failure.empty()) {
      note("nodescope: {}: {}\n", name_of(process), printable(process.failure));
    } else if (process.opened) {
      note("nodescope: {}: its inspector is closed again; it was open for {:.1f} s\n", name_of(process),
           static_cast<double>(process.open_time.count()) / 1000);
    }
  }
}

// The primary of a cluster passes SIGUSR1 on to its workers, unless theirs are open by then.
void put_cluster_workers_first(std::vector<pid_t>& pids) {
  std::ranges::stable_partition(pids, [](pid_t pid) {
    const auto environment = read_proc_file(pid, "environ");
    return environment && parse_launch_marks(*environment).cluster_worker;
  });
}

// Of several processes some may be impossible; an error only if all are.
Result<void> attach(InspectorSession& session, const InspectorRecording& wanted,
                    const InterruptRequest& interrupt) {
  if (wanted.address) return session.attach(*wanted.address);
  Result<void> last;
  for (const pid_t pid : wanted.pids) {
    if (interrupt.requested()) break;
    auto attached = session.attach(pid);
    if (attached) continue;
    last = std::move(attached);
    if (wanted.pids.size() > 1) note("nodescope: {}\n", last.error().message);
  }
  return session.processes().empty() ? last : Result<void>();
}

RecordingEnd run_until_end(InspectorSession& session, double seconds, const InterruptRequest& interrupt) {
  StatusLine status(seconds, [&](double) {
    return fmt::format("{} threads of {} processes, by their inspectors", session.thread_count(),
                       session.processes().size());
  });
  const auto begin = Clock::now();
  while (!interrupt.requested()) {
    if (std::chrono::duration<double>(Clock::now() - begin).count() >= seconds)
      return RecordingEnd::kTimeOver;
    interrupt.sleep_ms(kPollMilliseconds);
    session.poll();
    if (!session.has_targets()) return RecordingEnd::kTargetsEnded;
    status.show();
  }
  return RecordingEnd::kInterrupted;
}

struct Course {
  RecordingEnd end = RecordingEnd::kTimeOver;
  double seconds = 0;
};

// Everything but the result, which `session` has then.
Result<Course> run(InspectorSession& session, InspectorRecording& wanted) {
  const InterruptRequest interrupt;
  put_cluster_workers_first(wanted.pids);
  if (auto attached = attach(session, wanted, interrupt); !attached) return std::unexpected(attached.error());
  announce(session);
  const auto begin = Clock::now();
  Course course;
  course.end = run_until_end(session, wanted.seconds, interrupt);
  course.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  session.finish();
  tell_outcome(session);
  const auto& processes = session.processes();
  if (std::ranges::all_of(processes, [](const InspectedProcess& process) { return process.threads == 0; })) {
    return fail(ErrorCode::kSystem,
                course.end == RecordingEnd::kTargetsEnded
                    ? "nothing was recorded: V8 keeps a profile until its end, and it went with the process"
                    : "nothing was recorded: no inspector has delivered a profile");
  }
  return course;
}

RecordingCourse course_of(const InspectorRecording& wanted, const Course& run, const Profile& profile) {
  RecordingCourse course;
  course.end = run.end;
  course.seconds = run.seconds;
  course.wanted_seconds = wanted.seconds;
  course.pids = wanted.pids;
  for (const pid_t pid : wanted.pids) course.states.push_back(process_state(pid));
  course.is_node = true;
  course.samples = profile.samples.size();
  return course;
}

// The first is that of the main thread.
Result<void> write_originals(const std::vector<OriginalProfile>& originals, const std::string& path) {
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const OriginalProfile& original = originals[i];
    const std::string file = i == 0 ? path : with_suffix(path, fmt::format("{}", i + 1));
    auto written = write_output(file, [&](ByteSink& sink) { return sink.write(original.text); });
    if (!written) return written;
    if (originals.size() > 1) {
      note("nodescope: {}: {}{}\n", printable(file), printable(original.thread.name),
           original.thread.pid == 0 ? "" : fmt::format(" of process {}", original.thread.pid));
    }
  }
  return {};
}

bool is_v8s_own(const std::string& path, InspectorProfile profile) {
  return path.ends_with(profile == InspectorProfile::kCpu ? ".cpuprofile" : ".heapprofile");
}

}  // namespace

Result<Recorded> record_by_inspector(InspectorRecording wanted) {
  const auto writer = writer_of_recording(wanted.output);
  if (!writer) return std::unexpected(writer.error());
  wanted.options.keep_originals = is_v8s_own(wanted.output, wanted.options.profile);
  LiveSourceMaps maps(wanted.maps);
  maps.remember(wanted.pids);
  InspectorSession session(wanted.options);
  const auto course = run(session, wanted);
  if (!course) return std::unexpected(course.error());
  Profile profile = session.take_profile();
  profile.facts["engine"] = "inspector";
  if (auto mapped = maps.apply(profile); !mapped) note("nodescope: {}\n", mapped.error().message);
  const auto originals = session.take_originals();
  const ViewOptions view{.name = display_names({wanted.output}).front()};
  auto written = originals.empty() ? write_as(*writer, profile, view, wanted.output)
                                   : write_originals(originals, wanted.output);
  if (!written) return std::unexpected(keep_elsewhere(profile, written.error()));
  auto recorded_course = course_of(wanted, *course, profile);
  return Recorded{std::move(profile), {}, std::move(recorded_course)};
}

Result<void> record_coverage(InspectorRecording wanted) {
  wanted.options.profile = InspectorProfile::kCoverage;
  InspectorSession session(wanted.options);
  const auto course = run(session, wanted);
  if (!course) return std::unexpected(course.error());
  const CoverageReport report = derive_coverage_report(session.take_coverage(), course->seconds);
  return write_output(wanted.output, [&](ByteSink& sink) {
    return wanted.output.ends_with(".json") ? write_coverage_json(report, sink)
                                            : sink.write(coverage_text(report));
  });
}

void tell_left_open() {
  for (const OpenedInspector& opened : find_left_open()) {
    note(
        "nodescope: process {}: a recording that was killed has left its inspector open; "
        "'nodescope doctor --close-inspectors' closes it\n",
        opened.pid);
  }
}

}  // namespace nodescope
