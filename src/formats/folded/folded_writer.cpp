#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "formats/folded/folded.h"
#include "formats/folded/folded_annotation.h"
#include "formats/folded/folded_io.h"
#include "formats/folded/folded_paths.h"

namespace nodescope {

namespace {

struct Counts {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

std::uint64_t add_clipped(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

class FoldedWriter {
 public:
  FoldedWriter(const Profile& profile, const WriteOptions& options)
      : profile_(profile), options_(options), two_counts_(has_two_counts(profile)) {}

  Result<void> write(ByteSink& sink) {
    for (std::size_t i = 0; i < profile_.samples.size(); ++i) add(i);
    const auto append = [&](StackId path, std::string& line) {
      fmt::format_to(std::back_inserter(line), " {}", counts_[path.index()].first);
      if (two_counts_) fmt::format_to(std::back_inserter(line), " {}", counts_[path.index()].second);
    };
    is_written_.resize(paths_.size());
    return write_folded_paths(paths_, is_written_, append, sink);
  }

 private:
  void add(std::size_t i) {
    const SampleContext& context = profile_.samples.context(i);
    const bool is_second = context.event.index() == 1;
    if (context.event.index() != 0 && !(two_counts_ && is_second)) return;
    const StackId path = path_of(root(context.thread), profile_.samples.stack(i));
    if (counts_.size() < paths_.size()) {
      counts_.resize(paths_.size());
      is_written_.resize(paths_.size());
    }
    std::uint64_t& count = is_second ? counts_[path.index()].second : counts_[path.index()].first;
    count = add_clipped(count, profile_.samples.weight(i));
    is_written_[path.index()] = true;
  }

  // The thread's name is the outermost frame, as stackcollapse-perf.pl has it.
  StackId root(ThreadId id) {
    if (id.index() >= roots_.size()) roots_.resize(profile_.threads().size());
    auto& root = roots_[id.index()];
    if (root) return *root;
    std::string label = one_folded_name(label_of(profile_.thread(id)));
    std::ranges::replace(label, ' ', '_');
    root = label.empty() ? kEmptyStack : paths_.push(kEmptyStack, paths_.intern(label));
    return *root;
  }

  std::string label_of(const Thread& thread) const {
    const Process& process = profile_.process(thread.process);
    const std::string_view name = profile_.text(thread.name != StringId{} ? thread.name : process.name);
    const bool is_known = !name.empty() || process.pid != 0 || thread.tid != 0;
    if (options_.thread_label == ThreadLabel::kName || !is_known) return std::string(name);
    // The script has a '?' for the process where perf tells only the thread.
    const std::string pid =
        process.pid == 0 && process.name == StringId{} ? "?" : fmt::to_string(process.pid);
    if (options_.thread_label == ThreadLabel::kNamePid) return fmt::format("{}-{}", name, pid);
    return fmt::format("{}-{}/{}", name, pid, thread.tid);
  }

  StackId path_of(StackId root, StackId stack) {
    missing_.clear();
    StackId path = root;
    for (; stack != kEmptyStack; stack = profile_.stacks.caller(stack)) {
      const auto known = known_.find(key(root, stack));
      if (known != known_.end()) {
        path = known->second;
        break;
      }
      missing_.push_back(stack);
    }
    for (; !missing_.empty(); missing_.pop_back()) {
      path = paths_.push(path, name(profile_.stacks.frame(missing_.back())));
      known_.emplace(key(root, missing_.back()), path);
    }
    return path;
  }

  static std::uint64_t key(StackId root, StackId stack) {
    return std::uint64_t{root.value} << 32 | stack.value;
  }

  StringId name(FrameId id) {
    if (names_.empty()) names_.resize(profile_.frames.size());
    auto& name = names_[id.index()];
    if (!name) name = paths_.intern(folded_name(profile_, profile_.frames[id], options_));
    return *name;
  }

  const Profile& profile_;
  const WriteOptions& options_;
  const bool two_counts_;
  FoldedPaths paths_;
  std::vector<Counts> counts_;
  std::vector<bool> is_written_;
  std::vector<std::optional<StackId>> roots_;
  std::vector<std::optional<StringId>> names_;
  FlatMap<std::uint64_t, StackId> known_;  // root and stack of the profile -> path
  std::vector<StackId> missing_;
};

}  // namespace

bool has_two_counts(const Profile& profile) {
  return profile.events().size() == 2 && profile.text(profile.events()[0].name) == "before" &&
         profile.text(profile.events()[1].name) == "after";
}

Result<void> write_folded(const Profile& profile, const WriteOptions& options, ByteSink& sink) {
  return FoldedWriter(profile, options).write(sink);
}

}  // namespace nodescope
