#include "target/node_recognizer.h"

#include "target/live_process.h"

namespace nodescope {

namespace {

// V8's code alone is larger in every build, so that most files need not be opened.
constexpr std::uint64_t kMinCodeBytes = std::uint64_t{4} << 20;

constexpr std::uint32_t kDynamicSegment = 2;  // PT_DYNAMIC: also a loader that was started by name

std::optional<BinaryVersions> versions_of(const ElfFile& file) {
  return has_v8_metadata(file) ? std::optional(read_versions(file)) : std::nullopt;
}

}  // namespace

Result<NodeRecognizer::Program> NodeRecognizer::program_of(pid_t pid) {
  const auto identity = identify_executable(pid);
  if (!identity) {
    if (identity.error().code == ErrorCode::kNotFound) return Program{};
    return std::unexpected(identity.error());
  }
  const auto [known, fresh] = programs_.try_emplace({identity->device, identity->inode});
  Program& program = known->second;
  if (!fresh) return program;
  auto source = open_executable(pid);
  auto elf = source ? OwnedElf::read(std::move(*source)) : std::unexpected(source.error());
  if (!elf) {
    Error error = elf.error();
    // A program for another kind of machine stays one; a process that has ended says nothing about its file.
    if (error.code == ErrorCode::kInvalidInput || error.code == ErrorCode::kUnsupported) return program;
    programs_.erase(known);
    return std::unexpected(std::move(error));
  }
  program.loads_libraries = elf->file().find_segment(kDynamicSegment).has_value();
  if (identity->size_bytes >= kMinCodeBytes) program.versions = versions_of(elf->file());
  return program;
}

Result<std::optional<BinaryVersions>> NodeRecognizer::find_library(pid_t pid) {
  const auto text = read_proc_file(pid, "maps");
  if (!text) return std::unexpected(text.error());
  const MemoryMap map = MemoryMap::parse(*text);
  std::unique_ptr<LiveProcess> process;
  for (const Region& region : map.regions()) {
    if (!region.executable || !region.has_file() || region.range.size_bytes() < kMinCodeBytes) continue;
    const MappedFile key{region.device, region.inode};
    auto known = libraries_.find(key);
    if (known == libraries_.end()) {
      if (!process) {
        auto opened = LiveProcess::open(pid);
        if (!opened) return std::unexpected(opened.error());
        process = std::move(*opened);
      }
      const auto elf = process->open_image(region);
      if (!elf) continue;
      known = libraries_.emplace(key, versions_of(elf->file())).first;
    }
    if (known->second) return known->second;
  }
  return std::nullopt;
}

Result<std::optional<BinaryVersions>> NodeRecognizer::recognize(pid_t pid) {
  const auto program = program_of(pid);
  if (!program) return std::unexpected(program.error());
  if (program->versions || !program->loads_libraries) return program->versions;
  return find_library(pid);
}

}  // namespace nodescope
