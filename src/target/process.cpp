#include "target/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "target/other_runtime.h"

namespace nodescope {

bool has_v8_metadata(const ElfFile& file) {
  const ElfSymbols symbols = file.dynsym();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols.name(symbols[i]).starts_with("v8dbg_class_")) return true;
  }
  return false;
}

Result<NodeBinary> find_node_binary(const TargetProcess& process) {
  std::vector<const Region*> candidates;
  for (const Region& region : process.map().regions()) {
    if (!region.executable || !region.has_file()) continue;
    const bool known = std::ranges::any_of(candidates, [&](const Region* other) {
      return other->inode == region.inode && other->device == region.device;
    });
    if (!known) candidates.push_back(&region);
  }
  std::ranges::partition(candidates,
                         [&](const Region* region) { return region->path == process.executable(); });
  std::optional<Error> unreadable;
  for (const Region* region : candidates) {
    auto elf = process.open_image(*region);
    if (!elf) {
      if (!unreadable) unreadable = elf.error();
      continue;
    }
    if (has_v8_metadata(elf->file()))
      return NodeBinary{std::move(*elf), region->path, region->device, region->inode};
  }
  if (unreadable) return std::unexpected(*unreadable);
  if (const auto other = describe_other_runtime(process.executable()))
    return fail(ErrorCode::kUnsupported, fmt::format("process {} is {}", process.pid(), *other));
  return fail(ErrorCode::kUnsupported,
              fmt::format("process {} ({}) is not Node.js: neither its program nor its libraries hold V8",
                          process.pid(), process.executable()));
}

}  // namespace nodescope
