#include "target/images.h"

#include <algorithm>
#include <cstring>

#include "binary/debug_files.h"
#include "os/file.h"
#include "os/procfs.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxVdsoBytes = 1 << 20;
// Of one process: node with its addons has some fifty.  One that maps ever new files must not keep us here,
// nor fill our memory.
constexpr std::size_t kMaxImages = 4096;
constexpr std::size_t kMaxImagesAtOnce = 256;

bool is_vdso(const Region& region) {
  return region.path == "[vdso]";
}

// A copy of memory, kept as long as the source.
class CopySource final : public ByteSource {
 public:
  CopySource(std::string content, std::string name)
      : content_(std::move(content)), source_(std::string_view(content_), std::move(name)) {}

  Result<std::size_t> read(std::span<std::byte> into) override { return source_.read(into); }
  std::optional<std::uint64_t> size() const override { return source_.size(); }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    return source_.read_at(offset, into);
  }
  std::optional<std::span<const std::byte>> mapped() override { return source_.mapped(); }
  std::string_view name() const override { return source_.name(); }

 private:
  std::string content_;
  MemorySource source_;
};

}  // namespace

ImageKey key_of(const Region& region) {
  return region.has_file() ? ImageKey{region.device, region.inode}
                           : ImageKey{region.path, region.range.begin.value};
}

std::shared_ptr<Image> ImageCache::make(OwnedElf elf, const std::string& path) const {
  static const DebugFileSearch kSearch{.perf_cache = "~/.debug"};
  HostFiles own;
  FileOpener& files = files_ != nullptr ? *files_ : own;
  auto debug = elf.file().build_id() ? find_debug_file(elf.file(), path, kSearch, files) : std::nullopt;
  return std::make_shared<Image>(std::move(elf), std::move(debug));
}

std::shared_ptr<Image> ImageCache::find(const ImageKey& key) const {
  const auto found = std::ranges::find(images_, key, &decltype(images_)::value_type::first);
  return found == images_.end() ? nullptr : found->second;
}

// Our own map names the file as those of other processes do.  What stat says may differ (overlayfs, btrfs).
std::optional<ImageKey> ImageCache::read_ahead(const std::string& path) {
  auto source = HostFiles().open(path);
  auto elf = source ? OwnedElf::read(std::move(*source)) : std::unexpected(source.error());
  const auto maps = elf ? read_proc_file(own_pid(), "maps") : std::unexpected(elf.error());
  if (!maps) return std::nullopt;
  const MemoryMap map = MemoryMap::parse(*maps);
  const Region* region = map.find(Address{reinterpret_cast<std::uintptr_t>(elf->file().bytes().data())});
  if (region == nullptr || !region->has_file() || find(key_of(*region)) != nullptr) return std::nullopt;
  add(key_of(*region), make(std::move(*elf), path));
  return key_of(*region);
}

Result<OwnedElf> Images::open(const Region& region) {
  if (!is_vdso(region)) return process_.open_image(region);
  std::string content(std::min(region.range.size_bytes(), kMaxVdsoBytes), '\0');
  if (!memory_.read(region.range.begin, std::as_writable_bytes(std::span(content))))
    return fail(ErrorCode::kSystem, "reading the vdso failed");
  return OwnedElf::read(std::make_unique<CopySource>(std::move(content), region.path));
}

std::shared_ptr<Image> Images::load(const Region& region, const ImageKey& key, Diagnostics& diagnostics) {
  auto shared = region.has_file() ? cache_.find(key) : nullptr;
  if (shared != nullptr && process_.has_mapped(region, shared->file())) return shared;
  auto elf = open(region);
  if (!elf) {
    diagnostics.warn("binary could not be opened", elf.error().message);
    return nullptr;
  }
  auto image = cache_.make(std::move(*elf), region.path);
  if (region.has_file() && shared == nullptr) cache_.add(key, image);
  return image;
}

void Images::load_all(Diagnostics& diagnostics) {
  by_region_.clear();
  const std::size_t limit = std::min(kMaxImages, images_.size() + kMaxImagesAtOnce);
  for (const Region& region : process_.map().regions()) {
    if (!region.executable || (!region.has_file() && !is_vdso(region))) {
      by_region_.push_back(nullptr);
      continue;
    }
    const ImageKey key = key_of(region);
    auto found = std::ranges::find(images_, key, &decltype(images_)::value_type::first);
    if (found == images_.end() && images_.size() >= limit) {
      diagnostics.warn("binaries that were not looked at: a process has too many", region.path);
      by_region_.push_back(nullptr);
      continue;
    }
    if (found == images_.end()) found = images_.insert(images_.end(), {key, load(region, key, diagnostics)});
    by_region_.push_back(found->second.get());
  }
}

Image* Images::find(const Region& region) const {
  const auto index = static_cast<std::size_t>(&region - process_.map().regions().data());
  return index < by_region_.size() ? by_region_[index] : nullptr;
}

}  // namespace nodescope
