#include "app/inspector_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "app/input.h"
#include "app/note.h"
#include "app/views.h"
#include "base/text.h"
#include "os/interrupt.h"
#include "os/procfs.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMilliseconds = 100;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string name_of(const InspectedProcess& process) {
  return process.pid == 0 ? process.address : fmt::format("process {}", process.pid);
}

void announce(const InspectorSession& session) {
  for (const InspectedProcess& process : session.processes()) {
    note("nodescope: {}: {} {}\n", name_of(process),
         process.opened ? "opened its inspector by SIGUSR1 on" : "its inspector is open on", process.address);
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

struct Round {
  std::vector<pid_t> later;  // their port is in use by one of this round
  RecordingEnd end = RecordingEnd::kTimeOver;
};

// Every process that can be attached to together with the others.
Result<Round> attach_round(InspectorSession& session, const std::vector<pid_t>& pids) {
  Round round;
  Result<void> last;
  bool any = false;
  for (const pid_t pid : pids) {
    auto attached = session.attach(pid);
    if (attached) {
      any = true;
    } else if (attached.error().code == ErrorCode::kLimit && any) {
      round.later.push_back(pid);
    } else {
      last = std::move(attached);
      if (pids.size() > 1) note("nodescope: {}\n", last.error().message);
    }
  }
  if (!any) return std::unexpected(last.error());
  return round;
}

RecordingEnd run_until_end(InspectorSession& session, double seconds, const InterruptRequest& interrupt) {
  const auto begin = Clock::now();
  while (!interrupt.requested()) {
    if (seconds_since(begin) >= seconds) return RecordingEnd::kTimeOver;
    interrupt.sleep_ms(kPollMilliseconds);
    session.poll();
    if (!session.has_targets()) return RecordingEnd::kTargetsEnded;
  }
  return RecordingEnd::kInterrupted;
}

RecordingCourse course_of(const InspectorRecording& wanted, RecordingEnd end, double seconds,
                          const Profile& profile) {
  RecordingCourse course;
  course.end = end;
  course.seconds = seconds;
  course.wanted_seconds = wanted.seconds;
  course.pids = wanted.pids;
  for (const pid_t pid : wanted.pids) course.states.push_back(process_state(pid));
  course.is_node = true;
  course.samples = profile.samples.size();
  return course;
}

}  // namespace

Result<Recorded> record_by_inspector(const InspectorRecording& wanted) {
  const auto writer = writer_of_path(wanted.output);
  if (!writer) {
    return fail(ErrorCode::kUsage,
                fmt::format("{}: the name must end like a format, such as .nscope, .svg or .cpuprofile",
                            wanted.output));
  }
  const InterruptRequest interrupt;
  const auto begin = Clock::now();
  Profile profile;
  std::vector<pid_t> pids = wanted.pids;
  RecordingEnd end = RecordingEnd::kTimeOver;
  std::optional<Error> failure;
  do {
    InspectorSession session(wanted.options);
    if (wanted.address) {
      if (auto attached = session.attach(*wanted.address); !attached)
        return std::unexpected(attached.error());
    } else {
      auto round = attach_round(session, pids);
      if (!round) {
        failure = round.error();
        break;
      }
      pids = std::move(round->later);
    }
    announce(session);
    end = run_until_end(session, wanted.seconds, interrupt);
    session.finish();
    tell_outcome(session);
    append(profile, session.take_profile());
  } while (!pids.empty() && !interrupt.requested());
  if (profile.samples.size() == 0 && failure) return std::unexpected(*failure);
  profile.facts["engine"] = "inspector";
  const ViewOptions view{.name = display_names({wanted.output}).front()};
  if (auto written = write_as(*writer, profile, view, wanted.output); !written)
    return std::unexpected(written.error());
  auto course = course_of(wanted, end, seconds_since(begin), profile);
  return Recorded{std::move(profile), {}, std::move(course)};
}

}  // namespace nodescope
