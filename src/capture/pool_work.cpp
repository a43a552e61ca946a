#include "capture/pool_work.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "formats/perf_data/sample_record.h"
#include "os/procfs.h"
#include "target/live_process.h"
#include "target/work_pool.h"

namespace nodescope {

namespace {

// The first is where libuv takes a request, the others where a thread begins with it.
constexpr auto kPoints = std::to_array<FileAddress PoolSymbols::*>({
    &PoolSymbols::submit,
    &PoolSymbols::file_work,
    &PoolSymbols::lookup_work,
    &PoolSymbols::name_work,
    &PoolSymbols::other_work,
});

constexpr auto kWorkFunctions = std::to_array<std::string_view>(
    {"uv__fs_work", "uv__getaddrinfo_work", "uv__getnameinfo_work", "uv__queue_work"});

}  // namespace

bool is_pool_work(std::string_view function) {
  return std::ranges::find(kWorkFunctions, function) != kWorkFunctions.end();
}

Result<void> PoolWork::watch(pid_t pid) {
  const auto process = LiveProcess::open(pid);
  if (!process) return std::unexpected(process.error());
  const auto image = find_pool_image(**process);
  if (!image) return fail(ErrorCode::kUnsupported, "the binary has no symbols of libuv's pool");
  const std::string path = (*process)->path_of_mapped(image->region.device, image->region.inode);
  std::vector<ProbePoint> points;
  for (const auto member : kPoints) {
    const auto offset = image->elf.file().to_offset(image->symbols.*member);
    if (!offset) return fail(ErrorCode::kUnsupported, "libuv's pool lies outside of its file");
    points.push_back({.path = path, .file_offset = offset->value, .with_stack = points.empty()});
  }
  auto target = std::make_unique<Target>();
  target->probes = std::make_unique<FunctionProbes>(std::move(points));
  // The first tells whether it is permitted.
  if (auto attached = target->probes->attach(pid); !attached) return attached;
  target->threads.push_back(pid);
  attach_new_threads(pid, *target);
  target->known_threads = target->threads.size();
  targets_[static_cast<std::uint32_t>(pid)] = std::move(target);
  return {};
}

void PoolWork::attach_new_threads(pid_t pid, Target& target) {
  const auto threads = list_threads(pid);
  if (!threads) return;
  for (const pid_t tid : *threads) {
    if (std::ranges::find(target.threads, tid) != target.threads.end()) continue;
    target.threads.push_back(tid);
    // One that has ended meanwhile has nothing to tell.
    static_cast<void>(target.probes->attach(tid));
  }
}

void PoolWork::collect(const BuildStack& build) {
  for (auto& [tid, begun] : begun_) {
    if (begun.size() > 1) begun.erase(begun.begin(), std::prev(begun.end()));
  }
  for (const auto& [pid, target] : targets_) {
    for (const ProbeHit& hit : target->probes->collect()) add(static_cast<pid_t>(pid), *target, hit, build);
    attach_new_threads(static_cast<pid_t>(pid), *target);
  }
}

void PoolWork::add(pid_t pid, Target& target, const ProbeHit& hit, const BuildStack& build) {
  if (hit.point == 0) {
    const RegisterSet registers = perf::registers_of(kProbeRegisters, hit.registers);
    const Address top{registers.get(Register::kRsp).value_or(0)};
    if (target.open.size() >= kMaxOpen) target.open.clear();
    target.open[hit.second] = build(pid, registers, {top, hit.stack});
    return;
  }
  const auto asked = target.open.find(hit.first);
  const StackId stack = asked != target.open.end() ? asked->second : kEmptyStack;
  if (asked != target.open.end()) target.open.erase(asked);
  begun_[static_cast<std::uint32_t>(hit.tid)].push_back({hit.time_ns, stack});
}

StackId PoolWork::asked_by(pid_t pid, pid_t tid, std::uint64_t time_ns, StackSnapshot stack) {
  std::vector<Begun>& begun = begun_[static_cast<std::uint32_t>(tid)];
  const auto after = std::ranges::upper_bound(begun, time_ns, {}, &Begun::time_ns);
  if (after != begun.begin()) return std::prev(after)->stack;
  // libuv starts the threads of its pool with the first request: they begin before we have found them.
  const auto target = targets_.find(static_cast<std::uint32_t>(pid));
  if (target == targets_.end()) return kEmptyStack;
  const auto known = std::span(target->second->threads).first(target->second->known_threads);
  if (std::ranges::find(known, tid) != known.end()) return kEmptyStack;
  const StackId found = found_on_stack(*target->second, stack);
  if (found != kEmptyStack) begun.insert(begun.begin(), {time_ns, found});
  return found;
}

// The only request that is on the stack of a new thread is what it does.
StackId PoolWork::found_on_stack(Target& target, StackSnapshot stack) {
  std::optional<std::uint64_t> request;
  for (std::size_t i = 0; i + 8 <= stack.bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, stack.bytes.data() + i, sizeof word);
    if (word == request || !target.open.contains(word)) continue;
    if (request) return kEmptyStack;
    request = word;
  }
  if (!request) return kEmptyStack;
  const StackId found = target.open.at(*request);
  target.open.erase(*request);
  return found;
}

}  // namespace nodescope
