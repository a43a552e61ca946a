#include "capture/collection_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "formats/perf_data/sample_record.h"
#include "model/application_frame.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

using Point = CollectionTracker::Point;

struct NamedPoint {
  std::string_view prefix;  // of the mangled name, up to the types of its arguments
  Point at_entry;
  std::optional<Point> at_return;
};

// The same names from V8 9.4 to 14.
constexpr auto kFunctions = std::to_array<NamedPoint>({
    {"_ZN2v88internal4Heap14CollectGarbageE", Point::kBegin, Point::kEnd},
    {"_ZN2v88internal4Heap8ScavengeE", Point::kScavenge, std::nullopt},
    {"_ZN2v88internal4Heap11MarkCompactE", Point::kMarkCompact, std::nullopt},
    {"_ZN2v88internal18IncrementalMarking4StepE", Point::kStepBegin, Point::kStepEnd},
});

std::array<std::optional<ElfSymbol>, kFunctions.size()> find_functions(const ElfFile& file) {
  std::array<std::optional<ElfSymbol>, kFunctions.size()> found;
  const ElfSymbols symbols = file.symtab();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const ElfSymbol symbol = symbols[i];
    if (symbol.section == 0 || symbol.size_bytes == 0) continue;
    const std::string_view name = symbols.name(symbol);
    if (!name.starts_with("_ZN2v88internal") || name.contains('.')) continue;  // ".cold", ".constprop.1"
    for (std::size_t k = 0; k < kFunctions.size(); ++k) {
      if (name.starts_with(kFunctions[k].prefix)) found[k] = symbol;
    }
  }
  return found;
}

}  // namespace

Result<void> CollectionWatch::prepare(pid_t pid, Target& target) {
  const auto process = LiveProcess::open(pid);
  if (!process) return std::unexpected(process.error());
  const auto binary = find_node_binary(**process);
  if (!binary) return std::unexpected(binary.error());
  const std::string path = (*process)->path_of_mapped(binary->device, binary->inode);
  const auto functions = find_functions(binary->elf.file());
  std::vector<ProbePoint> points;
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    const auto offset = functions[i] ? binary->elf.file().to_offset(FileAddress{functions[i]->value})
                                     : std::optional<FileOffset>();
    if (!offset) return fail(ErrorCode::kUnsupported, binary->path + " has no symbols of V8's collector");
    points.push_back(
        {.path = path, .file_offset = offset->value, .with_stack = kFunctions[i].at_entry == Point::kBegin});
    target.points.push_back(kFunctions[i].at_entry);
    if (!kFunctions[i].at_return) continue;
    points.push_back({.path = path, .file_offset = offset->value, .at_return = true});
    target.points.push_back(*kFunctions[i].at_return);
  }
  target.probes = std::make_unique<FunctionProbes>(std::move(points));
  return {};
}

Result<void> CollectionWatch::watch(pid_t pid, pid_t tid) {
  const auto [entry, is_new] = targets_.try_emplace(static_cast<std::uint32_t>(pid));
  if (is_new) {
    entry->second = std::make_unique<Target>(pid);
    if (auto prepared = prepare(pid, *entry->second); !prepared) return prepared;
  }
  Target& target = *entry->second;
  if (target.probes == nullptr || std::ranges::find(target.threads, tid) != target.threads.end()) return {};
  target.threads.push_back(tid);
  auto attached = target.probes->attach(tid);
  if (!attached && attached.error().code != ErrorCode::kNotFound) target.probes.reset();
  return attached;
}

bool CollectionWatch::measures(pid_t pid) const {
  const auto target = targets_.find(static_cast<std::uint32_t>(pid));
  return target != targets_.end() && target->second->probes != nullptr;
}

std::string describe_collection(const Profile& profile, const Collection& collection) {
  std::string text(to_string(collection.kind));
  const std::string_view reason = collection_reason(collection.reason);
  if (!reason.empty()) text += fmt::format(": {}", reason);
  const auto function = application_frame(profile, collection.stack);
  if (!function) return text;
  return text + (reason.empty() ? ": in " : ", in ") + frame_text(profile, *function);
}

std::vector<Collection> CollectionWatch::take(const BuildStack& build) {
  std::vector<Collection> all;
  for (const auto& [pid, target] : targets_) {
    if (target->probes == nullptr) continue;
    for (const ProbeHit& hit : target->probes->collect()) {
      StackId stack = kEmptyStack;
      if (!hit.stack.empty()) {
        const RegisterSet registers = perf::registers_of(kProbeRegisters, hit.registers);
        const Address top{registers.get(Register::kRsp).value_or(0)};
        stack = build(static_cast<pid_t>(pid), registers, {top, hit.stack});
      }
      target->tracker.add(hit.tid, target->points[hit.point], hit.time_ns, hit.third, stack);
    }
    for (const Collection& collection : target->tracker.take()) all.push_back(collection);
  }
  return all;
}

}  // namespace nodescope
