#include "binary/resolver.h"

#include <fmt/format.h>

#include <utility>

#include "base/path.h"
#include "base/text.h"
#include "binary/generated_code.h"

namespace nodescope {

namespace {

constexpr std::string_view kDeleted = " (deleted)";

bool is_vdso_path(std::string_view path) {
  return path.starts_with("[vdso");
}

}  // namespace

struct Resolver::Mapped {
  std::string path;
  std::optional<BuildId> build_id;
  std::int32_t pid = 0;
  bool generated = false;
  std::string_view module;

  bool loaded = false;
  std::optional<Image> binary;
  FlatMap<std::uint64_t, ResolvedSymbolId>
      resolved;  // by the symbol's address in the binary, its text in a map
  ResolvedSymbolId unknown;
};

struct Resolver::GeneratedCode {
  std::int32_t pid = 0;
  std::string jitdump_path;  // empty: none
  JitClocks clocks;

  bool map_loaded = false;
  std::optional<PerfMap> map;
  bool dump_loaded = false;
  std::optional<JitDump> dump;
  std::optional<JitTimeline> timeline;  // of dump
};

Resolver::Resolver(ResolverOptions options, Diagnostics& diagnostics)
    : options_(std::move(options)),
      diagnostics_(diagnostics),
      kernel_(options_.files, options_.search, diagnostics) {}

Resolver::~Resolver() = default;

ImageId Resolver::intern_image(std::string_view path, const std::optional<BuildId>& build_id,
                               std::int32_t pid) {
  const bool generated = is_generated_code_path(path);
  // One process, one place for generated code, whatever its mappings are called.
  std::string key = generated ? fmt::format("/tmp/perf-{}.map", pid) : std::string(path);
  if (build_id && !generated) key += '\0' + build_id->to_hex();
  const auto [entry, added] = image_ids_.try_emplace(std::move(key), ImageId{images_.size()});
  if (!added) return entry->second;
  auto image = std::make_unique<Mapped>();
  image->path = generated ? entry->first : std::string(path);
  image->build_id = build_id;
  image->pid = pid;
  image->generated = generated;
  image->module = image->path;
  image->unknown = add_symbol({{}, image->module, std::nullopt});
  images_.push_back(std::move(image));
  return entry->second;
}

Resolver::GeneratedCode& Resolver::generated_code_of(std::int32_t pid) {
  auto& code = generated_[static_cast<std::uint32_t>(pid)];
  if (!code) {
    code = std::make_unique<GeneratedCode>();
    code->pid = pid;
  }
  return *code;
}

void Resolver::add_jitdump(std::int32_t pid, std::string_view path, const JitClocks& clocks) {
  GeneratedCode& code = generated_code_of(pid);
  if (!code.jitdump_path.empty()) return;
  code.jitdump_path = path;
  code.clocks = clocks;
  code.dump_loaded = false;
}

bool Resolver::advance(std::int32_t pid, std::uint64_t time) {
  GeneratedCode& code = generated_code_of(pid);
  if (!code.dump_loaded) load_dump(code);
  return code.timeline && code.timeline->advance(time);
}

Result<std::unique_ptr<ByteSource>> Resolver::open_beside_or_at(const std::string& path) {
  auto beside = options_.files->open(fmt::format("{}/{}", options_.recording_folder, file_name_of(path)));
  if (beside) return beside;
  return options_.files->open(path);
}

void Resolver::load_map(GeneratedCode& code) {
  code.map_loaded = true;
  if (options_.files == nullptr) return;
  const std::string path = fmt::format("/tmp/perf-{}.map", code.pid);
  if (auto source = open_beside_or_at(path)) {
    if (auto map = PerfMap::read(std::move(*source), diagnostics_)) code.map = std::move(*map);
  }
  if (!code.map && code.jitdump_path.empty()) {
    diagnostics_.warn(
        "no perf map for generated code: its functions have no names (node --perf-basic-prof writes one)",
        path);
  }
}

void Resolver::load_dump(GeneratedCode& code) {
  code.dump_loaded = true;
  if (options_.files == nullptr || code.jitdump_path.empty()) return;
  auto source = open_beside_or_at(code.jitdump_path);
  auto dump = source ? JitDump::read(std::move(*source), diagnostics_) : std::unexpected(source.error());
  if (!dump) {
    diagnostics_.warn("jitdump cannot be read: no names from it", dump.error().message);
    return;
  }
  code.dump = std::move(*dump);
  const auto& clock = code.dump->has_processor_times() ? code.clocks.processor : code.clocks.monotonic;
  code.timeline.emplace(*code.dump, clock.value_or(JitClock{}));
  if (clock) return;
  diagnostics_.warn(
      "jitdump and recording have different clocks: the newest code at an address counts (perf record -k "
      "mono)",
      code.jitdump_path);
  code.timeline->advance(UINT64_MAX);
}

void Resolver::load(Mapped& image) {
  image.loaded = true;
  if (options_.files == nullptr) return;
  auto binary = open_binary(image);
  if (!binary) return;
  auto debug = find_debug_file(binary->file(), image.path, options_.search, *options_.files);
  image.binary.emplace(std::move(*binary), std::move(debug));
}

std::optional<OwnedElf> Resolver::open_binary(const Mapped& image) {
  std::vector<std::string> paths;
  if (is_vdso_path(image.path)) {
    // That of this machine may be another one: it counts only by its build id.
    if (!image.build_id) return std::nullopt;
    paths.push_back(perf_cache_path(*image.build_id, "vdso", options_.search));
    paths.push_back(image.path);
  } else if (!image.path.ends_with(kDeleted)) {
    paths.push_back(image.path);
  } else if (image.build_id) {
    paths.push_back(image.path.substr(0, image.path.size() - kDeleted.size()));
  }
  if (file_name_of(image.path).starts_with("jitted-")) {
    paths.push_back(fmt::format("{}/{}", options_.recording_folder, file_name_of(image.path)));
  }
  for (const std::string& path : paths) {
    if (auto binary = open_if_same(image, path)) return binary;
  }
  if (image.build_id) {
    if (auto binary = find_binary(*image.build_id, options_.search, *options_.files)) return binary;
  }
  if (image.path.starts_with('/'))
    diagnostics_.warn("binary not found or changed since the recording: no names from it", image.path);
  return std::nullopt;
}

std::optional<OwnedElf> Resolver::open_if_same(const Mapped& image, const std::string& path) {
  auto source = options_.files->open(path);
  if (!source) return std::nullopt;
  auto binary = OwnedElf::read(std::move(*source));
  if (!binary) return std::nullopt;
  if (image.build_id && binary->file().build_id() != image.build_id) return std::nullopt;
  return std::move(*binary);
}

ResolvedSymbolId Resolver::resolve(const MappedImage& mapped, Address address) {
  Mapped& image = *images_[mapped.image.index()];
  return image.generated ? resolve_generated(image, address)
                         : resolve_in_binary(image, mapped.offset_of(address));
}

ResolvedSymbolId Resolver::resolve_in_binary(Mapped& image, FileOffset offset) {
  if (!image.loaded) load(image);
  if (!image.binary) return image.unknown;
  const auto symbol = image.binary->symbol_at(offset);
  if (!symbol) return image.unknown;
  const auto [entry, added] = image.resolved.try_emplace(symbol->address.value);
  if (added) entry->second = add_symbol({keep(display_name(*symbol)), image.module, std::nullopt});
  return entry->second;
}

ResolvedSymbolId Resolver::resolve_generated(Mapped& image, Address address) {
  GeneratedCode& code = generated_code_of(image.pid);
  if (!code.dump_loaded) load_dump(code);
  ResolvedSymbol symbol{{}, image.module, std::nullopt};
  if (const JitCode* jitted = code.timeline ? code.timeline->find(address) : nullptr) {
    symbol = {jitted->name, code.jitdump_path, jitted->source};
  } else {
    if (!code.map_loaded) load_map(code);
    if (code.map) symbol.name = code.map->find(address).value_or(std::string_view());
  }
  if (symbol.name.empty()) return image.unknown;
  const auto [entry, added] =
      image.resolved.try_emplace(reinterpret_cast<std::uintptr_t>(symbol.name.data()));
  if (added) entry->second = add_symbol(symbol);
  return entry->second;
}

ResolvedSymbolId Resolver::resolve_kernel(Address address) {
  const auto answer = kernel_.resolve(address);
  if (!answer) return unknown_in("[kernel.kallsyms]");
  const auto [entry, added] = kernel_symbols_.try_emplace(answer->key);
  if (added) entry->second = add_symbol({answer->name, answer->module, std::nullopt});
  return entry->second;
}

ResolvedSymbolId Resolver::unknown_in(std::string_view module) {
  const auto [entry, added] = unknown_.try_emplace(module);
  if (added) entry->second = add_symbol({{}, module, std::nullopt});
  return entry->second;
}

ResolvedSymbolId Resolver::add_symbol(const ResolvedSymbol& symbol) {
  symbols_.push_back(symbol);
  return ResolvedSymbolId{symbols_.size() - 1};
}

std::string_view Resolver::keep(std::string text) {
  return *texts_.emplace_back(std::make_unique<std::string>(std::move(text)));
}

bool Resolver::is_generated(ImageId image) const {
  return images_[image.index()]->generated;
}

Image* Resolver::binary(ImageId id) {
  Mapped& image = *images_[id.index()];
  if (image.generated) return nullptr;
  if (!image.loaded) load(image);
  return image.binary ? &*image.binary : nullptr;
}

std::span<const std::byte> Resolver::generated_code(ImageId id, Address address) {
  const Mapped& image = *images_[id.index()];
  if (!image.generated) return {};
  GeneratedCode& code = generated_code_of(image.pid);
  const JitCode* jitted = code.timeline ? code.timeline->find(address) : nullptr;
  if (jitted == nullptr || address - jitted->range.begin >= jitted->code.size()) return {};
  return jitted->code.subspan(address - jitted->range.begin);
}

}  // namespace nodescope
