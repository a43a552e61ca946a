#include "binary/kernel_image.h"

#include <fmt/format.h>

#include "base/byte_reader.h"
#include "base/path.h"

namespace nodescope {

namespace {

constexpr std::string_view kKernelModule = "[kernel.kallsyms]";
constexpr std::uint64_t kMaxSmallFile = 1 << 20;
constexpr std::uint32_t kNoteBuildId = 3;  // NT_GNU_BUILD_ID

std::uint64_t padded(std::uint32_t bytes) {
  return (std::uint64_t{bytes} + 3) & ~std::uint64_t{3};
}

// "/lib/modules/6.1.0/kernel/net/nf_tables.ko.xz" and "[nf_tables]" -> "nf_tables".  Module names have '_'
// where the file name may have '-'.
std::string module_name_of(std::string_view file) {
  if (file.starts_with('[')) {
    file.remove_prefix(1);
    return std::string(file.substr(0, file.find(']')));
  }
  std::string name(file_name_of(file));
  name.resize(std::min(name.find('.'), name.size()));
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

}  // namespace

std::optional<BuildId> build_id_of_notes(std::string_view notes) {
  ByteReader reader(as_byte_span(notes));
  while (reader.remaining() != 0) {
    const auto name_bytes = reader.read<std::uint32_t>();
    const auto content_bytes = reader.read<std::uint32_t>();
    const auto type = reader.read<std::uint32_t>();
    if (!type) return std::nullopt;
    const auto name = reader.take(padded(*name_bytes));
    const auto content = reader.take(padded(*content_bytes));
    if (!content) return std::nullopt;
    if (*type == kNoteBuildId && as_text(*name) == std::string_view("GNU\0", 4)) {
      return BuildId::from_bytes(content->first(*content_bytes));
    }
  }
  return std::nullopt;
}

void KernelImage::map_module(Range<Address> range, std::string_view name) {
  modules_.assign(range, module_name_of(name));
}

void KernelImage::add_generated(Range<Address> range, std::string_view name) {
  generated_.assign(range, {generated_names_.emplace_back(name), generated_names_.size()});
}

std::optional<KernelImage::Answer> KernelImage::resolve(Address address) {
  if (!loaded_) load();
  if (const Generated* generated = generated_.find(address)) {
    return Answer{generated->name, generated->name, generated->key};
  }
  const auto symbol = symbols_.find(address + shift_);
  if (!symbol) return std::nullopt;
  // The modules of another boot lie elsewhere: a name counts only if the recording has the same module there.
  const std::string* module = modules_.find(address);
  const bool fits = module != nullptr ? *module == symbol->module : symbol->module.empty() || shift_ == 0;
  if (!fits) return std::nullopt;
  return Answer{symbol->name, module_text(symbol->module), symbol->address.value};
}

std::string_view KernelImage::module_text(std::string_view module) {
  if (module.empty()) return kKernelModule;
  const auto known = module_texts_.find(module);
  if (known != module_texts_.end()) return known->second;
  return module_texts_.emplace(module, fmt::format("[{}]", module)).first->second;
}

void KernelImage::load() {
  loaded_ = true;
  if (files_ == nullptr) return;
  auto symbols = read_running_kernel();
  if (!symbols) symbols = read_kept_copy();
  if (!symbols) {
    diagnostics_.warn("the recording is of another kernel: no names for the kernel",
                      identity_.release.empty() ? "the recording does not say which" : identity_.release);
    return;
  }
  symbols_ = std::move(*symbols);
  if (identity_.reference_symbol.empty()) return;
  const auto reference = symbols_.address_of(identity_.reference_symbol);
  if (reference && identity_.reference_address) shift_ = *reference - *identity_.reference_address;
}

std::optional<KernelSymbols> KernelImage::read_running_kernel() {
  auto source = files_->open("/proc/kallsyms");
  if (!source) return std::nullopt;
  Diagnostics diagnostics;
  auto symbols = KernelSymbols::read(**source, diagnostics);
  if (!symbols || !is_running_kernel(*symbols)) return std::nullopt;
  diagnostics_.merge(diagnostics);
  return std::move(*symbols);
}

std::optional<KernelSymbols> KernelImage::read_kept_copy() {
  if (!identity_.build_id) return std::nullopt;
  auto source = files_->open(perf_cache_path(*identity_.build_id, "kallsyms", search_));
  if (!source) return std::nullopt;
  auto symbols = KernelSymbols::read(**source, diagnostics_);
  if (!symbols) return std::nullopt;
  return std::move(*symbols);
}

bool KernelImage::is_running_kernel(const KernelSymbols& running) {
  if (identity_.build_id) {
    const auto notes = read_text("/sys/kernel/notes");
    const auto id = notes ? build_id_of_notes(*notes) : std::nullopt;
    return id == identity_.build_id;
  }
  if (!identity_.release.empty()) {
    const auto release = read_text("/proc/sys/kernel/osrelease");
    return release && *release == identity_.release + "\n";
  }
  // A recording that was killed says neither.  Two kernels with code of exactly the same size are the same
  // one.
  const auto begin = running.address_of("_text");
  const auto end = running.address_of("_etext");
  return begin && end && *end - *begin == identity_.text.size_bytes();
}

std::optional<std::string> KernelImage::read_text(const std::string& path) {
  const auto source = files_->open(path);
  if (!source) return std::nullopt;
  std::string storage;
  const auto bytes = read_whole(**source, storage, kMaxSmallFile);
  if (!bytes) return std::nullopt;
  return std::string(as_text(*bytes));
}

}  // namespace nodescope
