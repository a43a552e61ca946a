#include "formats/firefox/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/text.h"
#include "formats/firefox/shared_tables.h"
#include "formats/json_extra.h"
#include "model/sample.h"

namespace nodescope {

namespace {

using firefox::Columns;

constexpr int kNanosecondDecimals = 6;  // from milliseconds

std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

// Keys come in any order, so nothing is looked up before the end of the file.
struct RawThread {
  std::string name;
  std::string process_name;
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  firefox::SharedTables tables;  // of files before version 60
  Columns samples;
  CompactColumn<json::Number> weights;
  std::string weight_type = "samples";
  Columns markers;
  // What nodescope adds.
  std::optional<ThreadId> thread;
  std::optional<std::string> event;
  std::optional<Unit> unit;
};

class FirefoxReader {
 public:
  FirefoxReader(ByteSource& source, const ReadOptions& options)
      : source_(source), options_(options), reader_(source, options.progress) {}

  Result<Profile> read() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "meta") {
        read_meta();
      } else if (*key == "libs") {
        read_libraries();
      } else if (*key == "shared") {
        auto tables = reader_.object();
        while (const auto table = tables.next()) shared_.read_member(reader_, std::string(*table));
      } else if (*key == "threads") {
        auto elements = reader_.array();
        while (elements.next()) read_thread();
      }
    }
    if (const auto finished = reader_.finish(profile_.diagnostics, !threads_.empty()); !finished)
      return std::unexpected(finished.error());
    if (threads_.empty() || !is_processed_) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format(
              "{}: a profile as Firefox records it: open it in profiler.firefox.com and save it there, "
              "which makes a processed one of it",
              source_.name()));
    }
    build();
    return std::move(profile_);
  }

 private:
  // ---------------------------------------------------------------- reading

  void read_meta() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "preprocessedProfileVersion") {
        is_processed_ = reader_.number().has_value();
      } else if (*key == "product") {
        const std::string product(reader_.string().value_or(""));
        file_.is_ours = product == "nodescope";
        if (!file_.is_ours && !product.empty()) profile_.facts["product"] = product;
      } else if (*key == "startTime") {
        if (const auto number = reader_.number()) start_ns_ = number->scaled(kNanosecondDecimals);
      } else if (*key == "categories") {
        read_categories();
      } else if (*key == "oscpu") {
        if (const auto text = reader_.string()) profile_.facts["os"] = *text;
      } else if (*key == json::kExtraKey) {
        read_own_times();
      }
    }
  }

  void read_categories() {
    auto elements = reader_.array();
    while (elements.next()) {
      file_.categories.emplace_back();
      auto members = reader_.object();
      while (const auto key = members.next()) {
        if (*key == "name") file_.categories.back() = reader_.string().value_or("");
      }
    }
  }

  void read_own_times() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "firstTime") {
        const auto number = reader_.number();
        first_ns_ = number ? number->rounded() : 0;
      } else if (*key == "clockOffset") {
        const auto number = reader_.number();
        clock_offset_ns_ = number ? number->rounded() : 0;
      } else if (*key == "timed") {
        timed_ = reader_.boolean().value_or(true);
      }
    }
  }

  void read_libraries() {
    auto elements = reader_.array();
    while (elements.next()) {
      firefox::Library library;
      std::string name;
      auto members = reader_.object();
      while (const auto key = members.next()) {
        if (*key == "path") {
          library.path = reader_.string().value_or("");
        } else if (*key == "name") {
          name = reader_.string().value_or("");
        } else if (*key == "breakpadId") {
          library.debug_id = reader_.string().value_or("");
        } else if (*key == "codeId" && reader_.peek() == json::Type::kString) {
          library.code_id = reader_.string().value_or("");
        }
      }
      if (library.path.empty()) library.path = name;
      file_.libraries.push_back(std::move(library));
    }
  }

  void read_thread() {
    auto raw = std::make_unique<RawThread>();
    auto members = reader_.object();
    while (const auto key = members.next()) {
      const std::string name(*key);
      if (name == "name") {
        raw->name = reader_.string().value_or("");
      } else if (name == "processName" && reader_.peek() == json::Type::kString) {
        raw->process_name = reader_.string().value_or("");
      } else if (name == "pid") {
        raw->pid = read_id();
      } else if (name == "tid") {
        raw->tid = read_id();
      } else if (name == "samples") {
        read_samples(*raw);
      } else if (name == "markers") {
        read_markers(*raw);
      } else if (name == json::kExtraKey) {
        read_extra(*raw);
      } else {
        raw->tables.read_member(reader_, name);
      }
    }
    threads_.push_back(std::move(raw));
  }

  // "4711", 4711, and "4711.1" for a thread that is there twice.
  std::int32_t read_id() {
    if (reader_.peek() == json::Type::kNumber) return json::read_id(reader_);
    const std::string text(reader_.string().value_or(""));
    return parse_number<std::int32_t>(std::string_view(text).substr(0, text.find('.'))).value_or(0);
  }

  void read_samples(RawThread& raw) {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      const std::string name(*key);
      if (name == "weightType") {
        if (reader_.peek() == json::Type::kString) raw.weight_type = reader_.string().value_or("");
      } else if (name == "weight") {
        if (reader_.peek() != json::Type::kArray) continue;
        reader_.numbers([&](const auto& weight) { raw.weights.push_back(weight.value_or(json::Number{1})); });
      } else if (reader_.peek() == json::Type::kArray) {
        const bool is_time = name == "time" || name == "timeDeltas";
        raw.samples.read_column(reader_, name, is_time ? kNanosecondDecimals : 0);
      }
    }
  }

  void read_markers(RawThread& raw) {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      const std::string name(*key);
      const bool is_time = name == "startTime" || name == "endTime";
      if (reader_.peek() == json::Type::kArray)
        raw.markers.read_column(reader_, name, is_time ? kNanosecondDecimals : 0);
    }
  }

  void read_extra(RawThread& raw) {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "event") {
        if (const auto name = reader_.string()) raw.event = *name;
      } else if (*key == "unit") {
        if (const auto name = reader_.string()) raw.unit = unit_of(*name);
      } else if (*key == "thread") {
        raw.thread = json::read_thread(reader_, profile_);
      }
    }
  }

  // ---------------------------------------------------------------- building

  void build() {
    profile_.clock_offset_ns = clock_offset_ns_.value_or(start_ns_);
    const firefox::Sidecar symbols = firefox::Sidecar::find(source_.name(), options_, profile_.diagnostics);
    shared_.build(profile_, file_, symbols);
    for (const auto& raw : threads_) {
      const bool has_own = !raw->tables.empty();
      if (has_own) raw->tables.build(profile_, file_, symbols);
      build_thread(*raw, has_own ? raw->tables : shared_);
    }
  }

  void build_thread(const RawThread& raw, const firefox::SharedTables& tables) {
    const ThreadId thread = thread_of(raw);
    build_markers(raw, tables, thread);
    const std::size_t count = raw.samples.length();
    if (count == 0) return;
    const Unit unit = raw.unit.value_or(raw.weight_type == "tracing-ms" ? Unit::kNanoseconds
                                        : raw.weight_type == "bytes"    ? Unit::kBytes
                                                                        : Unit::kSamples);
    const std::string event = raw.event.value_or(unit == Unit::kNanoseconds ? "cpu"
                                                 : unit == Unit::kBytes     ? "space"
                                                                            : "samples");
    const ContextId context =
        profile_.samples.intern({thread, kUnknownCpu, profile_.intern_event(event, unit)});
    std::int64_t time_ns = first_ns_;
    for (std::size_t i = 0; i < count; ++i) {
      if (const auto time = raw.samples.at("time", i)) {
        time_ns = add_saturating(first_ns_, *time);
      } else if (const auto delta = raw.samples.at("timeDeltas", i)) {
        time_ns = add_saturating(time_ns, *delta);
      }
      const auto stack = raw.samples.index_at("stack", i, tables.stack_count());
      if (!stack && raw.samples.at("stack", i))
        profile_.diagnostics.warn("a sample's stack does not exist: shown without one");
      profile_.samples.add(timed_ ? time_ns : 0, stack ? tables.stack(*stack) : kEmptyStack, context,
                           weight_of(raw, i, unit));
    }
  }

  std::uint64_t weight_of(const RawThread& raw, std::size_t i, Unit unit) {
    if (i >= raw.weights.size()) return 1;
    const json::Number weight = raw.weights[i];
    if (weight.negative && weight.digits != 0)
      profile_.diagnostics.warn("a weight below zero counts as zero");
    return weight.as_count(unit == Unit::kNanoseconds ? kNanosecondDecimals : 0);
  }

  void build_markers(const RawThread& raw, const firefox::SharedTables& tables, ThreadId thread) {
    for (std::size_t i = 0; i < raw.markers.length(); ++i) {
      const auto start = raw.markers.at("startTime", i);
      const auto end = raw.markers.at("endTime", i);
      const std::string_view name = tables.text(raw.markers.index_at("name", i, tables.text_count()));
      const auto category = raw.markers.index_at("category", i, file_.categories.size());
      const bool is_gc =
          (category && file_.categories[*category].starts_with("GC")) || name.starts_with("GCM");
      if (!start || !end || *end < *start || (!is_gc && !file_.is_ours)) continue;
      profile_.markers.push_back({add_saturating(first_ns_, *start), add_saturating(*end, -*start), thread,
                                  is_gc ? MarkerKind::kGc : MarkerKind::kOther,
                                  profile_.strings.intern(name)});
    }
  }

  ThreadId thread_of(const RawThread& raw) {
    if (raw.thread) return *raw.thread;
    const ProcessId process = profile_.intern_process(raw.pid, raw.process_name);
    return profile_.intern_thread(process, raw.tid, raw.name);
  }

  ByteSource& source_;
  const ReadOptions& options_;
  json::Reader reader_;
  Profile profile_;
  firefox::FileFacts file_;
  firefox::SharedTables shared_;
  std::vector<std::unique_ptr<RawThread>> threads_;
  bool is_processed_ = false;
  bool timed_ = true;
  std::int64_t start_ns_ = 0;
  std::int64_t first_ns_ = 0;  // of our own files: what their times count from
  std::optional<std::int64_t> clock_offset_ns_;
};

}  // namespace

Result<Profile> read_firefox(ByteSource& source, const ReadOptions& options) {
  return FirefoxReader(source, options).read();
}

}  // namespace nodescope
