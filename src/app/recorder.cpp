#include "app/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "analysis/function_table.h"
#include "analysis/selection.h"
#include "analysis/summed_selection.h"
#include "app/function_report.h"
#include "app/headline.h"
#include "app/input.h"
#include "app/live_source_maps.h"
#include "app/note.h"
#include "app/status_line.h"
#include "app/turns_summary.h"
#include "app/views.h"
#include "base/text.h"
#include "formats/recording/recording_writer.h"
#include "os/interrupt.h"
#include "os/output_file.h"
#include "os/process.h"
#include "os/random.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kChunkInterval{1000};
// The first is written sooner, so that a recording that ends by a kill at once is one.
constexpr std::chrono::milliseconds kFirstChunk{100};
constexpr std::size_t kSummaryRows = 10;
// 16 bytes each.  Three quarters of an hour of a busy thread at 199 Hz; what is longer is summed up.
constexpr std::size_t kMaxSamplesHeld = 500'000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A .nscope file that grows with the session.  A full disk is told once; writing is tried again every second.
class RecordingFile {
 public:
  static Result<RecordingFile> create(const std::string& path, Readers readers) {
    auto file = GrowingFile::create(path, readers);
    if (!file) return std::unexpected(file.error());
    return RecordingFile(std::move(*file));
  }

  void append(SamplingSession& session) {
    const auto written = writer_->append(session.profile());
    if (!written && !failed_)
      note_at_once("\nnodescope: {}; recording goes on\n", printable(written.error().message));
    failed_ = !written;
    if (!failed_) rotate(session);
  }
  Result<void> finish(const Profile& profile) {
    if (auto written = writer_->finish(profile); !written) return written;
    return file_->check_is_there();
  }
  RecordingSums& sums() { return sums_; }

 private:
  explicit RecordingFile(std::unique_ptr<GrowingFile> file)
      : file_(std::move(file)), writer_(std::make_unique<RecordingWriter>(*file_)) {}

  // What is in the file need not be held as well: from some length on only its sums are.
  void rotate(SamplingSession& session) {
    const Profile& profile = session.profile();
    const std::size_t held = profile.samples.size() + profile.markers.size();
    if (held == 0 || (sums_.empty() && held < kMaxSamplesHeld)) return;
    sums_.add(profile);
    session.forget_samples();
    writer_->forget_samples();
  }

  std::unique_ptr<GrowingFile> file_;
  std::unique_ptr<RecordingWriter> writer_;
  RecordingSums sums_;
  bool failed_ = false;
};

// "1,204 samples · 0 lost · JavaScript 99.8 % resolved · own CPU 0.6 %"
std::string status_text(const SamplingSession& session, double elapsed, std::uint64_t cpu_begin_ns) {
  const SamplingCounts& counts = session.counts();
  const double resolved = counts.with_js == 0
                              ? 100.0
                              : 100.0 * static_cast<double>(counts.with_js - counts.with_unknown_js) /
                                    static_cast<double>(counts.with_js);
  const double own = 100.0 * static_cast<double>(own_cpu_ns() - cpu_begin_ns) / (elapsed * 1e9);
  return fmt::format("{} samples · {} lost · JavaScript {:.1f} % resolved · own CPU {:.1f} %",
                     with_thousands(counts.in_profile()), with_thousands(counts.lost), resolved, own);
}

RecordingEnd run_until_end(SamplingSession& session, const RecorderOptions& options,
                           const std::function<bool()>& has_ended, RecordingFile* file,
                           LiveSourceMaps& maps) {
  const InterruptRequest interrupt;
  StatusLine status(options.seconds, [&, cpu_begin_ns = own_cpu_ns()](double elapsed) {
    return status_text(session, elapsed, cpu_begin_ns);
  });
  const auto begin = Clock::now();
  auto last_chunk = begin;
  auto chunk_interval = kFirstChunk;
  if (file != nullptr) file->append(session);
  maps.remember(session.targets());
  while (!interrupt.requested()) {
    if (options.seconds && seconds_since(begin) >= *options.seconds) return RecordingEnd::kTimeOver;
    interrupt.sleep_ms(session.poll_milliseconds());
    session.poll();
    // They are markers of the profile as well.
    session.take_turns();
    session.take_collections();
    if (Clock::now() - last_chunk >= chunk_interval) {
      last_chunk = Clock::now();
      chunk_interval = std::min(2 * chunk_interval, kChunkInterval);
      if (file != nullptr) file->append(session);
      maps.remember(session.targets());
      // Ctrl-C reaches a command that shares our terminal too.
      if (has_ended() && !interrupt.requested()) return RecordingEnd::kTargetsEnded;
    }
    status.show();
  }
  return RecordingEnd::kInterrupted;
}

RecordingCourse run_session(SamplingSession& session, const RecorderOptions& options,
                            const std::function<bool()>& has_ended, RecordingFile* file,
                            LiveSourceMaps& maps) {
  const auto begin = Clock::now();
  RecordingCourse course;
  course.end = run_until_end(session, options, has_ended, file, maps);
  course.seconds = seconds_since(begin);
  course.wanted_seconds = options.seconds;
  session.finish();
  for (const pid_t pid : session.targets()) {
    if (pid == session.command()) continue;
    course.pids.push_back(pid);
    course.states.push_back(process_state(pid));
  }
  course.has_command = session.command().has_value();
  course.is_node = session.profile().facts.contains("node");
  course.samples = session.counts().in_profile();
  course.lost_samples = session.counts().lost;
  course.cpu_ns = session.cpu_ns();
  course.period_ns = session.period_ns();
  return course;
}

void apply_maps(LiveSourceMaps& maps, Profile& profile) {
  if (auto mapped = maps.apply(profile); !mapped) note("nodescope: {}\n", mapped.error().message);
}

}  // namespace

Error keep_elsewhere(const Profile& profile, const Error& error, bool is_rest) {
  const std::string_view what = is_rest ? "what it does not have yet" : "the recording";
  const std::string name = fmt::format("nodescope-{}.nscope", random_hex(4).value_or("kept"));
  for (const std::string& folder : {std::string("."), temporary_folder()}) {
    const std::string path = folder + "/" + name;
    auto file = OutputFile::create(path, Readers::kOwner);
    if (!file) continue;
    const auto written = RecordingWriter(**file).finish(profile);
    if (written && (*file)->commit())
      return {error.code, fmt::format("{}; {} is in {}", error.message, what, path)};
  }
  return {error.code, fmt::format("{}; {} is lost: there was no other place for it", error.message, what)};
}

Result<Writer> writer_of_recording(const std::string& path) {
  if (const auto writer = writer_of_path(path == "/dev/null" ? "null.nscope" : path)) return *writer;
  return fail(ErrorCode::kUsage,
              fmt::format("{}: the name must end like a format, such as .nscope, .svg or .cpuprofile", path));
}

Result<void> attach_all(SamplingSession& session, const std::vector<pid_t>& pids) {
  // All binaries first: reading one may take longer than the ring buffers of the others last.
  for (const pid_t pid : pids) session.prepare(pid);
  Result<void> last;
  bool any = false;
  for (const pid_t pid : pids) {
    last = session.attach(pid);
    any = any || last.has_value();
    session.poll();
    if (!last && last.error().code != ErrorCode::kNotFound) return last;
  }
  return any ? Result<void>() : last;
}

bool is_refused(const Error& error) {
  return error.code == ErrorCode::kPermission || error.code == ErrorCode::kUnsupported;
}

Result<Recorded> record(SamplingSession& session, const RecorderOptions& options,
                        const std::function<bool()>& has_ended) {
  const auto writer = writer_of_recording(options.output);
  if (!writer) return std::unexpected(writer.error());
  std::optional<RecordingFile> file;
  if (writer->name == "nscope") {
    auto created =
        RecordingFile::create(options.output, options.has_sources ? Readers::kOwner : Readers::kByUmask);
    if (!created) return std::unexpected(created.error());
    file.emplace(std::move(*created));
  }
  if (!session.sees_kernel() && !session.is_by_stops()) {
    note(
        "nodescope: without the kernel's frames: this user may not sample it "
        "(sysctl kernel.perf_event_paranoid=1, CAP_PERFMON, or root)\n");
  }
  LiveSourceMaps maps(options.maps);
  RecordingCourse course = run_session(session, options, has_ended, file ? &*file : nullptr, maps);
  if (file) {
    const bool was_rotated = !file->sums().empty();
    if (auto written = file->finish(session.profile()); !written)
      return std::unexpected(keep_elsewhere(session.take_profile(), written.error(), was_rotated));
    Recorded recorded{session.take_profile(), std::move(file->sums()), std::move(course)};
    if (was_rotated) {
      recorded.sums.add(recorded.profile);
      recorded.profile.samples = {};
      recorded.sums.put_into(recorded.profile);
    }
    // The file has the code that ran; whoever reads it applies the maps.
    apply_maps(maps, recorded.profile);
    return recorded;
  }
  Profile profile = session.take_profile();
  apply_maps(maps, profile);
  const ViewOptions view{.name = display_names({options.output}).front()};
  if (auto written = write_as(*writer, profile, view, options.output); !written)
    return std::unexpected(keep_elsewhere(profile, written.error()));
  return Recorded{std::move(profile), {}, std::move(course)};
}

std::string recording_summary(const Recorded& recorded) {
  const Profile& profile = recorded.profile;
  const RecordingSums& sums = recorded.sums;
  const Accounting accounting = sums.empty() ? derive_accounting(profile) : sums.accounting(profile);
  std::string text = accounting_text(profile, accounting) + "\n";
  if (profile.samples.size() == 0) return text;
  const std::string verdict = sums.empty() ? headline(profile) : headline_of_sums(profile, accounting);
  if (!verdict.empty()) text = verdict + "\n" + text;
  const auto causes = derive_cause_totals(profile, {}, CountBy::kWeight);
  text += causes_text(causes.value_or(CauseTotals{}));
  text +=
      sums.empty() ? turns_summary(profile) : sums.turns().stalls_line() + sums.turns().collections_line();
  TableTextOptions table;
  table.top = kSummaryRows;
  table.max_columns = terminal_columns();
  table.says_more = false;
  const FunctionTable functions = derive_function_table(profile, {});
  const FunctionTable own = own_functions(functions);
  if (!own.rows.empty()) {
    table.heading = "your functions, with what they call";
    text += "\n" + function_table_text(own, table);
  }
  table.heading = "all functions, by self";
  return text + "\n" + function_table_text(functions, table);
}

}  // namespace nodescope
