#include <fmt/format.h>

#include <limits>
#include <vector>

#include "formats/cpuprofile/v8_call_tree.h"
#include "formats/heapprofile/heapprofile.h"
#include "formats/heapprofile/write.h"
#include "json/reader.h"
#include "json/sniff.h"

namespace nodescope {

namespace {

bool recognise_heapprofile(std::string_view head) {
  const json::Outline outline = json::outline_of(head);
  return outline.has("head.callFrame") || outline.has("head.selfSize") || outline.has("samples[].nodeId");
}

// One sample for every stack.  The file's own `samples` say the same allocation by allocation and are not
// read.
void build_samples(Profile& profile, V8CallTree& tree) {
  tree.resolve(profile);
  std::vector<std::uint64_t> bytes(profile.stacks.size());
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    std::uint64_t& sum = bytes[tree.stack(i).index()];
    if (__builtin_add_overflow(sum, tree.weight(i), &sum)) sum = std::numeric_limits<std::uint64_t>::max();
  }
  const EventId event = profile.intern_event("space", Unit::kBytes);
  const ContextId context = profile.samples.intern({ThreadId{}, kUnknownCpu, event});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != 0) profile.samples.add(0, StackId{i}, context, bytes[i]);
  }
}

void read_tree(json::Reader& reader, V8CallTree& tree, Profile& profile, int wrappers = 0) {
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "head") {
      tree.read(reader, profile);
    } else if (wrappers < json::kMaxWrappers && json::is_wrapper(*key) &&
               reader.peek() == json::Type::kObject) {
      read_tree(reader, tree, profile, wrappers + 1);
    }
  }
}

Result<Profile> read_heapprofile(ByteSource& source, const ReadOptions& options) {
  Profile profile;
  V8CallTree tree;
  json::Reader reader(source, options.progress);
  read_tree(reader, tree, profile);
  if (const auto finished = reader.finish(profile.diagnostics, !tree.empty()); !finished) {
    return std::unexpected(finished.error());
  }
  if (tree.empty())
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: a heap profile without a head", source.name()));
  build_samples(profile, tree);
  return profile;
}

}  // namespace

const Format kHeapProfileFormat = {
    .name = "heapprofile",
    .extension = ".heapprofile",
    .description = "V8 sampling heap profile (node --heap-prof)",
    .recognise = recognise_heapprofile,
    .read = read_heapprofile,
    .write = write_heapprofile,
};

}  // namespace nodescope
