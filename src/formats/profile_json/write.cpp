#include <fmt/format.h>

#include "formats/json_extra.h"
#include "formats/profile_json/profile_json_io.h"
#include "json/writer.h"

namespace nodescope {

namespace {

class ProfileJsonWriter {
 public:
  ProfileJsonWriter(const Profile& profile, json::Writer& writer) : profile_(profile), writer_(writer) {}

  void write() {
    writer_.begin_object();
    writer_.key("format").string(kProfileJsonName);
    writer_.key("version").integer(kProfileJsonVersion);
    write_facts();
    write_diagnostics();
    write_events();
    write_threads();
    write_frames();
    write_stacks();
    write_samples();
    write_markers();
    write_mappings();
    write_sources();
    writer_.end_object();
  }

 private:
  void write_text(std::string_view key, StringId text) {
    if (text != StringId{}) writer_.key(key).string(profile_.text(text));
  }

  void write_facts() {
    writer_.line().key("facts").begin_object();
    for (const auto& [name, value] : profile_.facts) writer_.untrusted_key(name).string(value);
    writer_.end_object();
    writer_.line().key("clock_offset_ns").integer(profile_.clock_offset_ns);
    writer_.key("lost_samples").count(profile_.lost_samples);
  }

  void write_diagnostics() {
    writer_.line().key("diagnostics").begin_array();
    for (const Diagnostic& diagnostic : profile_.diagnostics.entries()) {
      writer_.line().begin_object();
      writer_.key("severity").string(kSeverityNames[static_cast<std::size_t>(diagnostic.severity)]);
      writer_.key("what").string(diagnostic.what);
      writer_.key("count").count(diagnostic.count);
      writer_.key("example").string(diagnostic.example);
      writer_.end_object();
    }
    writer_.end_array();
  }

  void write_events() {
    writer_.line().key("events").begin_array();
    for (const Event& event : profile_.events()) {
      writer_.line().begin_object();
      writer_.key("name").string(profile_.text(event.name));
      writer_.key("unit").string(to_string(event.unit));
      writer_.end_object();
    }
    writer_.end_array();
  }

  void write_threads() {
    writer_.line().key("processes").begin_array();
    for (const Process& process : profile_.processes()) {
      writer_.line().begin_object();
      writer_.key("pid").integer(process.pid);
      writer_.key("name").string(profile_.text(process.name));
      writer_.end_object();
    }
    writer_.end_array();
    writer_.line().key("threads").begin_array();
    for (const Thread& thread : profile_.threads()) {
      writer_.line().begin_object();
      writer_.key("process").count(thread.process.value);
      writer_.key("tid").integer(thread.tid);
      writer_.key("name").string(profile_.text(thread.name));
      writer_.end_object();
    }
    writer_.end_array();
  }

  void write_frames() {
    writer_.line().key("frames").begin_array();
    for (std::size_t i = 0; i < profile_.frames.size(); ++i) {
      const Frame& frame = profile_.frames[FrameId{i}];
      writer_.line().begin_object();
      writer_.key("function").string(profile_.text(frame.function));
      write_text("file", frame.file);
      if (frame.line != 0) writer_.key("line").count(frame.line);
      if (frame.column != 0) writer_.key("column").count(frame.column);
      json::write_frame_extra(writer_, profile_, frame);
      writer_.end_object();
    }
    writer_.end_array();
  }

  template <typename WriteOne>
  void write_column(std::string_view name, std::size_t length, WriteOne&& write_one) {
    writer_.line().key(name).begin_array();
    for (std::size_t i = 0; i < length; ++i) write_one(i);
    writer_.end_array();
  }

  void write_stacks() {
    const StackTable& stacks = profile_.stacks;
    const auto write_unless_empty = [&](std::size_t i, std::uint32_t value) {
      if (i == 0) {
        writer_.null();
      } else {
        writer_.count(value);
      }
    };
    writer_.line().key("stacks").begin_object();
    write_column("caller", stacks.size(),
                 [&](std::size_t i) { write_unless_empty(i, stacks.caller(StackId{i}).value); });
    write_column("frame", stacks.size(),
                 [&](std::size_t i) { write_unless_empty(i, stacks.frame(StackId{i}).value); });
    writer_.end_object();
  }

  void write_samples() {
    const SampleTable& samples = profile_.samples;
    const std::size_t length = samples.size();
    writer_.line().key("samples").begin_object();
    write_column("time_ns", length, [&](std::size_t i) { writer_.integer(samples.time_ns(i)); });
    write_column("stack", length, [&](std::size_t i) { writer_.count(samples.stack(i).value); });
    write_column("weight", length, [&](std::size_t i) { writer_.count(samples.weight(i)); });
    write_column("thread", length, [&](std::size_t i) { writer_.count(samples.context(i).thread.value); });
    write_column("cpu", length, [&](std::size_t i) { writer_.integer(samples.context(i).cpu); });
    write_column("event", length, [&](std::size_t i) { writer_.count(samples.context(i).event.value); });
    writer_.end_object();
  }

  void write_markers() {
    writer_.line().key("markers").begin_array();
    for (const Marker& marker : profile_.markers) {
      writer_.line().begin_object();
      writer_.key("time_ns").integer(marker.time_ns);
      writer_.key("duration_ns").integer(marker.duration_ns);
      writer_.key("thread").count(marker.thread.value);
      writer_.key("kind").string(kMarkerKindNames[static_cast<std::size_t>(marker.kind)]);
      writer_.key("name").string(profile_.text(marker.name));
      writer_.end_object();
    }
    writer_.end_array();
  }

  // Addresses are text: many programs read JSON numbers as doubles, which cannot hold them.
  void write_mappings() {
    writer_.line().key("mappings").begin_array();
    for (const Mapping& mapping : profile_.mappings) {
      writer_.line().begin_object();
      writer_.key("process").count(mapping.process.value);
      writer_.key("start").string(fmt::format("{:x}", mapping.start));
      writer_.key("end").string(fmt::format("{:x}", mapping.end));
      writer_.key("file_offset").string(fmt::format("{:x}", mapping.file_offset));
      writer_.key("file").string(profile_.text(mapping.file));
      write_text("build_id", mapping.build_id);
      writer_.end_object();
    }
    writer_.end_array();
  }

  void write_sources() {
    if (profile_.sources.empty()) return;
    writer_.line().key("sources").begin_array();
    for (const SourceText& source : profile_.sources) {
      writer_.line().begin_object();
      writer_.key("file").string(profile_.text(source.file));
      writer_.key("text").string(source.text);
      writer_.end_object();
    }
    writer_.end_array();
  }

  const Profile& profile_;
  json::Writer& writer_;
};

}  // namespace

Result<void> write_profile_json(const Profile& profile, const WriteOptions&, ByteSink& sink) {
  json::Writer writer(sink);
  ProfileJsonWriter(profile, writer).write();
  return writer.finish();
}

}  // namespace nodescope
