#include "target/core_process.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/path.h"
#include "binary/debug_files.h"
#include "os/file.h"

namespace nodescope {

namespace {

// Only what is held in memory is limited: a core of any size is mapped.
constexpr std::uint64_t kMaxUnmappedBytes = std::uint64_t{4} << 30;

constexpr std::size_t kPageBytes = 4096;

// More binaries than any process maps; each takes some system calls.
constexpr std::size_t kMaxBinaries = 4096;

constexpr std::uint64_t kMaxStackStringsBytes = 4 << 20;  // ARG_MAX is 2 MiB by default
constexpr std::size_t kMaxStackStrings = 65536;

constexpr std::string_view kDeleted = " (deleted)";

std::string_view without_deleted(std::string_view path) {
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path;
}

class DeadStandstill final : public Standstill {
 public:
  explicit DeadStandstill(std::span<const CoreThread> threads) {
    for (const CoreThread& thread : threads)
      threads_.push_back({thread.tid, thread.registers, thread.thread_pointer});
  }

  std::span<const TargetThread> threads() const override { return threads_; }
  std::uint64_t resume_ns() override { return 0; }

 private:
  std::vector<TargetThread> threads_;
};

// The permissions of what a file has at `offset`, as its segments say.
std::uint32_t flags_at(const ElfFile& file, FileOffset offset) {
  for (const ElfSegment& segment : file.loads()) {
    const FileOffset page{segment.offset.value & ~std::uint64_t{kPageBytes - 1}};
    if (offset >= page && offset < segment.offset + segment.file_bytes) return segment.flags;
  }
  return 0;
}

Error refused(const CoreOptions& options, const CoreBinary& binary, std::string_view found) {
  return {ErrorCode::kNotFound,
          fmt::format("{} is not the program of this core: its build id is {}, that of {} is {}",
                      options.executable, found.empty() ? "missing" : found, binary.path,
                      binary.build_id->to_hex())};
}

}  // namespace

const MemoryPiece* DeadMemory::find(Address address) const {
  const auto next = std::ranges::upper_bound(pieces_, address, {},
                                             [](const MemoryPiece& piece) { return piece.range.begin; });
  if (next == pieces_.begin()) return nullptr;
  const MemoryPiece& piece = *std::prev(next);
  return piece.range.contains(address) ? &piece : nullptr;
}

bool DeadMemory::read(Address address, std::span<std::byte> into) {
  while (!into.empty()) {
    const MemoryPiece* piece = find(address);
    if (piece == nullptr) return false;
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(piece->range.end - address, into.size()));
    std::memcpy(into.data(), piece->bytes + (address - piece->range.begin), count);
    into = into.subspan(count);
    address = address + count;
  }
  return true;
}

Result<std::unique_ptr<CoreProcess>> CoreProcess::open(std::unique_ptr<ByteSource> source,
                                                       const CoreOptions& options, Diagnostics& diagnostics) {
  std::string storage;
  const auto bytes = map_or_read_whole(*source, storage, kMaxUnmappedBytes);
  if (!bytes) return std::unexpected(bytes.error());
  const std::string name(source->name());
  auto core = CoreFile::parse(*bytes, diagnostics);
  if (!core) return fail(core.error(), name);
  const bool is_stored = !storage.empty();
  std::unique_ptr<CoreProcess> process(new CoreProcess(std::move(source), std::move(storage)));
  // Text short enough to be kept inside of the string has moved with it.
  if (is_stored) core = CoreFile::parse(as_byte_span(process->storage_), diagnostics);
  process->core_ = std::move(*core);
  const std::vector<Part> parts = process->derive_parts();
  process->number_files(parts);
  process->build_memory(parts);
  if (auto found = process->find_binaries(parts, options, diagnostics); !found)
    return std::unexpected(found.error());
  process->build_memory(parts);
  process->build_map(parts);
  return process;
}

// Cuts memory at every place where a segment or a mapping begins or ends.
std::vector<CoreProcess::Part> CoreProcess::derive_parts() const {
  std::vector<Part> parts;
  auto segment = core_.segments().begin();
  auto mapping = core_.mappings().begin();
  const auto segments_end = core_.segments().end();
  const auto mappings_end = core_.mappings().end();
  Address here;
  while (segment != segments_end || mapping != mappings_end) {
    const bool in_segment = segment != segments_end && segment->range.begin <= here;
    const bool in_mapping = mapping != mappings_end && mapping->range.begin <= here;
    Address next{~std::uint64_t{0}};
    if (segment != segments_end)
      next = std::min(next, in_segment ? segment->range.end : segment->range.begin);
    if (mapping != mappings_end)
      next = std::min(next, in_mapping ? mapping->range.end : mapping->range.begin);
    if (in_segment || in_mapping)
      parts.push_back({{here, next}, in_segment ? &*segment : nullptr, in_mapping ? &*mapping : nullptr});
    here = next;
    if (segment != segments_end && segment->range.end <= here) ++segment;
    if (mapping != mappings_end && mapping->range.end <= here) ++mapping;
  }
  return parts;
}

std::size_t CoreProcess::number_of(std::string_view path) const {
  const auto found = std::ranges::lower_bound(binaries_, path, {}, &CoreBinary::path);
  return found != binaries_.end() && found->path == path ? static_cast<std::size_t>(found - binaries_.begin())
                                                         : binaries_.size();
}

void CoreProcess::number_files(const std::vector<Part>& parts) {
  std::vector<std::string_view> paths;
  for (const Part& part : parts) {
    if (part.mapping != nullptr) paths.push_back(part.mapping->path);
  }
  std::ranges::sort(paths);
  const auto rest = std::ranges::unique(paths);
  paths.erase(rest.begin(), rest.end());
  if (paths.size() > kMaxBinaries) paths.resize(kMaxBinaries);
  for (const std::string_view path : paths) binaries_.push_back({.path = std::string(path)});
  images_.resize(binaries_.size());
}

std::optional<BuildId> CoreProcess::build_id_in_memory(Address header) {
  std::string page(kPageBytes, '\0');
  if (!memory_.read(header, std::as_writable_bytes(std::span(page)))) return std::nullopt;
  const auto elf = ElfFile::parse(as_byte_span(page));
  return elf ? elf->build_id() : std::nullopt;
}

Result<void> CoreProcess::find_binaries(const std::vector<Part>& parts, const CoreOptions& options,
                                        Diagnostics& diagnostics) {
  const std::optional<std::uint64_t> entry = core_.auxiliary(AT_PHDR);
  for (const Part& part : parts) {
    if (part.mapping == nullptr) continue;
    const std::size_t number = number_of(part.mapping->path);
    if (number == binaries_.size()) continue;
    CoreBinary& binary = binaries_[number];
    if (part.mapping->offset.value == 0 && part.range.begin == part.mapping->range.begin && !binary.build_id)
      binary.build_id = build_id_in_memory(part.range.begin);
    if (entry && part.range.contains(Address{*entry})) {
      binary.is_executable = true;
      executable_ = without_deleted(binary.path);
    }
  }
  for (std::size_t number = 0; number < binaries_.size(); ++number) {
    if (auto found = find_binary(number, options); !found) return found;
    const CoreBinary& binary = binaries_[number];
    if (binary.found_at.empty() && binary.build_id)
      diagnostics.warn("binaries of the process were not found",
                       fmt::format("{}, build id {}", binary.path, binary.build_id->to_hex()));
    if (!binary.found_at.empty() && !binary.is_verified)
      diagnostics.warn("the core does not say which build of a binary it ran: the one found may be another",
                       binary.found_at);
  }
  return {};
}

std::vector<std::string> CoreProcess::candidates(const CoreBinary& binary, const CoreOptions& options) const {
  const std::string path(without_deleted(binary.path));
  const std::string name(file_name_of(path));
  std::vector<std::string> paths{path};
  for (const std::string& folder : options.folders) {
    paths.push_back(folder + path);
    paths.push_back(folder + "/" + name);
  }
  paths.push_back(std::string(folder_of(source_->name())) + "/" + name);
  const std::string id = binary.build_id->to_hex();
  paths.push_back("~/.cache/nodescope/binaries/" + id);
  paths.push_back("~/.cache/debuginfod_client/" + id + "/executable");
  const DebugFileSearch caches{.perf_cache = "~/.debug"};
  std::ranges::move(binary_paths(*binary.build_id, caches), std::back_inserter(paths));
  return paths;
}

// Without a build id in the core only a file at the very path counts, or one that the user names.
Result<void> CoreProcess::find_binary(std::size_t number, const CoreOptions& options) {
  CoreBinary& binary = binaries_[number];
  const bool is_named = binary.is_executable && !options.executable.empty();
  std::vector<std::string> paths;
  if (is_named) {
    paths = {options.executable};
  } else if (binary.build_id) {
    paths = candidates(binary, options);
  } else {
    paths = {std::string(without_deleted(binary.path))};
  }
  HostFiles files;
  for (const std::string& path : paths) {
    auto source = is_named ? open_file(path) : files.open(path);
    if (!source && is_named) return std::unexpected(source.error());
    auto elf = source ? OwnedElf::read(std::move(*source)) : std::unexpected(source.error());
    if (!elf && is_named) return fail(elf.error(), path);
    if (!elf || elf->file().type() == ElfType::kCore) continue;
    const auto id = elf->file().build_id();
    const bool is_same = !binary.build_id || (id && *id == *binary.build_id);
    if (!is_same && is_named) return std::unexpected(refused(options, binary, id ? id->to_hex() : ""));
    if (!is_same) continue;
    binary.found_at = path;
    binary.is_named = is_named;
    binary.is_verified = binary.build_id.has_value();
    images_[number] = std::move(*elf);
    return {};
  }
  return {};
}

const OwnedElf* CoreProcess::image_of(const CoreMapping& mapping) const {
  const std::size_t number = number_of(mapping.path);
  return number == images_.size() || !images_[number] ? nullptr : &*images_[number];
}

// What the core has, and for the rest of what was mapped from a binary the bytes of that.  Where a core was
// cut off, what the process may have written to stays unknown.
void CoreProcess::build_memory(const std::vector<Part>& parts) {
  std::vector<MemoryPiece> pieces;
  for (const Part& part : parts) {
    Address here = part.range.begin;
    if (part.segment != nullptr) {
      const auto content = part.segment->content;
      const Address end = std::min(part.range.end, part.segment->range.begin + content.size());
      if (here < end) {
        pieces.push_back({{here, end}, content.data() + (here - part.segment->range.begin)});
        here = end;
      }
      const bool is_cut = content.size() < part.segment->dumped_bytes;
      if (is_cut && part.segment->writable) continue;
    }
    const OwnedElf* image = part.mapping == nullptr ? nullptr : image_of(*part.mapping);
    if (image == nullptr || here >= part.range.end) continue;
    const auto bytes = image->file().bytes();
    const std::uint64_t offset = part.mapping->offset.value + (here - part.mapping->range.begin);
    if (offset >= bytes.size()) continue;
    const Address end = here + std::min<std::uint64_t>(part.range.end - here, bytes.size() - offset);
    pieces.push_back({{here, end}, bytes.data() + offset});
  }
  memory_.set_pieces(std::move(pieces));
}

void CoreProcess::build_map(const std::vector<Part>& parts) {
  const Address vdso{core_.auxiliary(AT_SYSINFO_EHDR).value_or(0)};
  std::vector<Region> regions;
  for (const Part& part : parts) {
    Region region;
    region.range = part.range;
    if (part.segment != nullptr) {
      region.readable = part.segment->readable;
      region.writable = part.segment->writable;
      region.executable = part.segment->executable;
    }
    if (part.mapping != nullptr) {
      region.path = part.mapping->path;
      region.offset = part.mapping->offset + (part.range.begin - part.mapping->range.begin);
      region.device = "core";
      region.inode = number_of(part.mapping->path) + 1;
      const OwnedElf* image = image_of(*part.mapping);
      if (part.segment == nullptr && image != nullptr) {
        const std::uint32_t flags = flags_at(image->file(), region.offset);
        region.readable = (flags & PF_R) != 0;
        region.writable = (flags & PF_W) != 0;
        region.executable = (flags & PF_X) != 0;
      }
    } else {
      // What a core claims to have had, but has not, may be of any size: nothing is searched for in there.
      const Address end = part.segment->range.begin + part.segment->content.size();
      if (part.range.begin < end) {
        region.range.end = std::min(part.range.end, end);
      } else {
        region.readable = false;
      }
      if (vdso.value != 0 && part.range.contains(vdso)) region.path = "[vdso]";
    }
    regions.push_back(std::move(region));
  }
  map_ = MemoryMap(std::move(regions));
}

pid_t CoreProcess::pid() const {
  if (core_.pid()) return *core_.pid();
  return core_.threads().empty() ? 0 : core_.threads()[0].tid;
}

Result<std::unique_ptr<Standstill>> CoreProcess::stop() {
  return std::make_unique<DeadStandstill>(core_.threads());
}

// The kernel keeps that of the process only.
std::string CoreProcess::thread_name(pid_t tid) const {
  return tid == pid() ? std::string(core_.name()) : std::string();
}

Result<OwnedElf> CoreProcess::open_image(const Region& region) const {
  const std::size_t number = number_of(region.path);
  if (number == binaries_.size() || binaries_[number].found_at.empty()) {
    return fail(
        ErrorCode::kNotFound,
        region.path + " was not found; name the program with --exe, the folder of libraries with --libs");
  }
  HostFiles files;
  const CoreBinary& binary = binaries_[number];
  auto source = binary.is_named ? open_file(binary.found_at) : files.open(binary.found_at);
  if (!source) return std::unexpected(source.error());
  return OwnedElf::read(std::move(*source));
}

bool CoreProcess::has_mapped(const Region& region, const ElfFile& file) const {
  const std::size_t number = number_of(region.path);
  return number < images_.size() && images_[number] &&
         images_[number]->file().bytes().size() == file.bytes().size();
}

Result<std::unique_ptr<ByteSource>> CoreProcess::open_own_file(const std::string& path) const {
  return fail(ErrorCode::kNotFound, path + " belongs to a process that has ended");
}

Result<std::unique_ptr<ByteSource>> CoreProcess::open_perf_map() const {
  return open_own_file(fmt::format("/tmp/perf-{}.map", pid()));
}

// The kernel puts argc, argv, 0, envp, 0 and the auxiliary vector at the outermost end of the stack.  The
// name of the program is behind their texts.
CoreProcess::Invocation CoreProcess::invocation() {
  const auto name = core_.auxiliary(AT_EXECFN);
  const auto random = core_.auxiliary(AT_RANDOM);
  const auto headers = core_.auxiliary(AT_PHDR);
  const Region* region = name ? map_.find(Address{*name}) : nullptr;
  if (region == nullptr || !random || !headers) return {};
  const std::uint64_t size = std::min(Address{*name} - region->range.begin, kMaxStackStringsBytes);
  const Address begin = Address{(*name - size + 7) & ~std::uint64_t{7}};
  std::vector<std::uint64_t> words((*name - begin.value + 7) / 8);
  if (!memory_.read(begin, std::as_writable_bytes(std::span(words)))) return {};
  std::size_t vector = words.size();
  for (std::size_t i = words.size(); i-- > 1 && vector == words.size();) {
    if (words[i - 1] == AT_PHDR && words[i] == *headers) vector = i - 1;
  }
  if (vector == words.size()) return {};
  while (vector >= 2 && words[vector - 2] != 0 && words[vector - 2] < 64) vector -= 2;  // earlier entries
  const auto text_at = [&](std::uint64_t place) {
    std::string text;
    if (place < begin.value || place >= *name) return text;
    const char* const from = reinterpret_cast<const char*>(words.data()) + (place - begin.value);
    const std::string_view rest(from, words.size() * 8 - (place - begin.value));
    return std::string(rest.substr(0, rest.find('\0')));
  };
  Invocation invocation;
  const auto take_list = [&](std::vector<std::string>& texts) {
    if (vector == 0 || words[vector - 1] != 0) return;
    std::size_t first = --vector;
    while (first > 0 && words[first - 1] >= begin.value && texts.size() + vector - first < kMaxStackStrings)
      --first;
    for (std::size_t i = first; i < vector; ++i) texts.push_back(text_at(words[i]));
    vector = first;
  };
  take_list(invocation.environment);
  take_list(invocation.arguments);
  return invocation;
}

}  // namespace nodescope
