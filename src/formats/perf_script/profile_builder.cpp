#include <algorithm>
#include <utility>

#include "formats/perf_script/script_reader.h"

namespace nodescope {

namespace {

constexpr std::string_view kUnnamedEvent = "samples";

// Takes over what one reader refers to, each thing when the first sample needs it.
class Translator {
 public:
  Translator(const ScriptReader& reader, Profile& into,
             const FlatMap<std::int32_t, std::string>& process_names)
      : reader_(reader), from_(reader.tables()), into_(into), process_names_(process_names) {
    stacks_.resize(from_.stacks.size());
    frames_.resize(from_.frames.size());
    contexts_.resize(reader.contexts().size());
    stacks_[0] = kEmptyStack;
  }

  ContextId context(std::uint32_t id) {
    auto& known = contexts_[id];
    if (known) return *known;
    const ScriptContext& context = reader_.contexts()[id];
    const std::string_view event = from_.text(context.event);
    const EventId event_id = into_.intern_event(event.empty() ? kUnnamedEvent : event, context.unit);
    known = into_.samples.intern({thread(context), context.cpu, event_id});
    return *known;
  }

  StackId stack(StackId id) {
    missing_.clear();
    for (; !stacks_[id.index()]; id = from_.stacks.caller(id)) missing_.push_back(id);
    StackId stack = *stacks_[id.index()];
    for (; !missing_.empty(); missing_.pop_back()) {
      stack = into_.stacks.push(stack, frame(from_.stacks.frame(missing_.back())));
      stacks_[missing_.back().index()] = stack;
    }
    return stack;
  }

 private:
  ThreadId thread(const ScriptContext& context) {
    const std::string_view comm = from_.text(context.comm);
    if (!context.tid && comm.empty()) return ThreadId{};
    ProcessId process;
    if (context.pid) process = into_.intern_process(*context.pid, process_names_.find(*context.pid)->second);
    return into_.intern_thread(process, context.tid.value_or(0), comm);
  }

  FrameId frame(FrameId id) {
    auto& known = frames_[id.index()];
    if (known) return *known;
    Frame frame = from_.frames[id];
    frame.function = into_.strings.intern(from_.text(frame.function));
    frame.file = into_.strings.intern(from_.text(frame.file));
    frame.module = into_.strings.intern(from_.text(frame.module));
    known = into_.frames.intern(frame);
    return *known;
  }

  const ScriptReader& reader_;
  const Profile& from_;
  Profile& into_;
  const FlatMap<std::int32_t, std::string>& process_names_;
  std::vector<std::optional<StackId>> stacks_;
  std::vector<std::optional<FrameId>> frames_;
  std::vector<std::optional<ContextId>> contexts_;
  std::vector<StackId> missing_;
};

struct PartOfReader {
  const ScriptPart* part;
  std::size_t reader;
};

using Readers = std::vector<std::unique_ptr<ScriptReader>>;

std::vector<PartOfReader> parts_in_order(const Readers& readers) {
  std::vector<PartOfReader> parts;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    for (const ScriptPart& part : readers[i]->parts()) parts.push_back({&part, i});
  }
  std::ranges::sort(parts, {}, [](const PartOfReader& part) { return part.part->index; });
  return parts;
}

// A process is called what its first thread was called last, since a program's name replaces that of its
// starter; or, where that thread was never seen, what any of its threads was called first.
FlatMap<std::int32_t, std::string> process_names(const Readers& readers,
                                                 const std::vector<PartOfReader>& parts) {
  FlatMap<std::int32_t, std::string> names;
  FlatMap<std::int32_t, std::string> others;
  for (const PartOfReader& part : parts) {
    const ScriptReader& reader = *readers[part.reader];
    std::uint32_t last = UINT32_MAX;
    for (const ScriptSample& sample : part.part->samples) {
      if (std::exchange(last, sample.context) == sample.context) continue;
      const ScriptContext& context = reader.contexts()[sample.context];
      if (!context.pid) continue;
      const std::string_view comm = reader.tables().text(context.comm);
      if (context.tid == context.pid) {
        names.insert_or_assign(*context.pid, std::string(comm));
      } else {
        others.try_emplace(*context.pid, comm);
      }
    }
  }
  for (auto& [pid, name] : others) names.try_emplace(pid, std::move(name));
  return names;
}

// `perf script -F ip,sym` prints stacks alone.  In any other text a stack without its first line is the rest
// of a sample that was cut.
bool has_stacks_alone(const Readers& readers) {
  return std::ranges::all_of(readers, [](const auto& reader) { return reader->contexts().size() == 1; });
}

}  // namespace

Profile build_profile(const Readers& readers) {
  Profile profile;
  std::uint64_t cut = 0;
  const bool stacks_alone = has_stacks_alone(readers);
  const std::vector<PartOfReader> parts = parts_in_order(readers);
  const FlatMap<std::int32_t, std::string> names = process_names(readers, parts);
  std::vector<Translator> translators;
  for (const auto& reader : readers) translators.emplace_back(*reader, profile, names);
  for (const PartOfReader& part : parts) {
    Translator& translator = translators[part.reader];
    for (const ScriptSample& sample : part.part->samples) {
      if (sample.context == kNoHeader && !stacks_alone) {
        ++cut;
        continue;
      }
      profile.samples.add(sample.time_ns, translator.stack(sample.stack), translator.context(sample.context),
                          sample.weight);
    }
    profile.facts.insert(part.part->facts.begin(), part.part->facts.end());
    profile.diagnostics.merge(part.part->diagnostics);
    profile.lost_samples += part.part->lost_samples;
  }
  profile.diagnostics.add(Severity::kWarning, "stack without the first line of its sample left out", {}, cut);
  return profile;
}

}  // namespace nodescope
