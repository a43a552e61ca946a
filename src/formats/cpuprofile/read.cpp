#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "formats/cpuprofile/cpuprofile.h"
#include "formats/cpuprofile/profiler_run.h"
#include "formats/cpuprofile/write.h"
#include "json/reader.h"
#include "json/sniff.h"

namespace nodescope {

namespace {

constexpr int kMicrosecondDecimals = 3;  // from microseconds to nanoseconds
constexpr int kSecondDecimals = 9;

class CpuProfileReader {
 public:
  CpuProfileReader(ByteSource& source, Progress* progress) : source_(source), reader_(source, progress) {}

  Result<Profile> read() {
    read_members(0);
    const bool has_tree = !run_.tree.empty();
    if (const auto finished = reader_.finish(profile_.diagnostics, has_tree); !finished) {
      return std::unexpected(finished.error());
    }
    if (!has_tree) {
      return fail(ErrorCode::kInvalidInput, fmt::format("{}: a CPU profile without nodes", source_.name()));
    }
    build();
    return std::move(profile_);
  }

 private:
  void read_members(int wrappers) {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (wrappers < json::kMaxWrappers && json::is_wrapper(*key) && reader_.peek() == json::Type::kObject) {
        read_members(wrappers + 1);
      } else {
        read_member(*key);
      }
    }
  }

  void read_member(std::string_view key) {
    if (key == "nodes") {
      run_.tree.read(reader_, profile_);
    } else if (key == "head") {
      run_.tree.read(reader_, profile_);
      older_form_ = true;
    } else if (key == "samples") {
      reader_.numbers([&](const auto& id) { run_.samples.push_back(to_node_id(id)); });
    } else if (key == "timeDeltas") {
      deltas_ns_.reserve(run_.samples.size());
      reader_.numbers([&](const auto& delta) { deltas_ns_.push_back(to_ns(delta)); });
    } else if (key == "timestamps") {
      run_.times_ns.reserve(run_.samples.size());
      reader_.numbers([&](const auto& time) { run_.times_ns.push_back(to_ns(time)); });
    } else if (key == "startTime") {
      start_ = reader_.number();
    } else if (key == "endTime") {
      end_ = reader_.number();
    } else if (key == "nodescope") {
      read_extra();
    }
  }

  // Of our own files, in which the last sample lasts to the end.
  void read_extra() {
    run_.last_until_end = true;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "event") {
        if (const auto name = reader_.string()) run_.event = *name;
      } else if (*key == "unit") {
        if (const auto name = reader_.string()) run_.unit = unit_of(*name).value_or(Unit::kNanoseconds);
      } else if (*key == "nsPerUnit") {
        const auto number = reader_.number();
        run_.ns_per_unit = std::max<std::uint64_t>(1, number ? number->as_count() : 1);
      } else if (*key == "timed") {
        run_.timed = reader_.boolean().value_or(true);
      }
    }
  }

  void build() {
    // The older form counts the start and the end in seconds, but its timestamps in microseconds.
    const int decimals = older_form_ ? kSecondDecimals : kMicrosecondDecimals;
    const auto scaled = [&](std::optional<json::Number> time) { return time ? time->scaled(decimals) : 0; };
    run_.end_ns = scaled(end_);
    if (run_.times_ns.empty()) run_.times_ns = add_up(std::move(deltas_ns_), scaled(start_));
    build_samples(profile_, run_, ThreadId{});
  }

  static std::int64_t to_ns(const std::optional<json::Number>& time) {
    return time ? time->scaled(kMicrosecondDecimals) : 0;
  }

  ByteSource& source_;
  json::Reader reader_;
  Profile profile_;
  ProfilerRun run_;
  std::vector<std::int64_t> deltas_ns_;
  std::optional<json::Number> start_;
  std::optional<json::Number> end_;
  bool older_form_ = false;
};

bool recognise_cpuprofile(std::string_view head) {
  const json::Outline outline = json::outline_of(head);
  if (outline.has("nodes[].callFrame") || outline.has("head.functionName") || outline.has("head.callUID"))
    return true;
  if (outline.has("nodes[].hitCount") || outline.has("timeDeltas[]#") || outline.has("timestamps[]#"))
    return true;
  return outline.has("samples[]#") || (outline.has("nodes") && outline.has("startTime"));
}

Result<Profile> read_cpuprofile(ByteSource& source, const ReadOptions& options) {
  return CpuProfileReader(source, options.progress).read();
}

}  // namespace

const Format kCpuProfileFormat = {
    .name = "cpuprofile",
    .extension = ".cpuprofile",
    .description = "V8 CPU profile (node --cpu-prof, DevTools)",
    .recognise = recognise_cpuprofile,
    .read = read_cpuprofile,
    .write = write_cpuprofile,
};

}  // namespace nodescope
