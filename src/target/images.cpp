#include "target/images.h"

#include <algorithm>
#include <cstring>

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxVdsoBytes = 1 << 20;

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

const SymbolTable& Image::symbols() {
  if (!symbols_) symbols_ = SymbolTable::build(elf_.file());
  return *symbols_;
}

Images::Key Images::key_of(const Region& region) {
  return region.has_file() ? Key{region.device, region.inode} : Key{region.path, region.range.begin.value};
}

Result<OwnedElf> Images::open(const Region& region) {
  if (!is_vdso(region)) return process_.open_image(region);
  std::string content(std::min(region.range.size_bytes(), kMaxVdsoBytes), '\0');
  if (!memory_.read(region.range.begin, std::as_writable_bytes(std::span(content))))
    return fail(ErrorCode::kSystem, "reading the vdso failed");
  return OwnedElf::read(std::make_unique<CopySource>(std::move(content), region.path));
}

void Images::load_all(Diagnostics& diagnostics) {
  for (const Region& region : process_.map().regions()) {
    if (!region.executable || (!region.has_file() && !is_vdso(region))) continue;
    const Key key = key_of(region);
    if (std::ranges::find(images_, key, &decltype(images_)::value_type::first) != images_.end()) continue;
    auto elf = open(region);
    if (!elf) diagnostics.warn("binary could not be opened", elf.error().message);
    images_.emplace_back(key, elf ? std::make_unique<Image>(std::move(*elf)) : nullptr);
  }
}

Image* Images::find(const Region& region) {
  const auto found = std::ranges::find(images_, key_of(region), &decltype(images_)::value_type::first);
  return found == images_.end() ? nullptr : found->second.get();
}

}  // namespace nodescope
