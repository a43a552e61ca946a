#include "formats/v8_log/native_code.h"

#include "base/text.h"
#include "formats/symbol_name.h"

namespace nodescope::v8_log {

namespace {

constexpr std::size_t kMaxLibraries = 10'000;
constexpr std::size_t kMaxKnown = std::size_t{1} << 20;

}  // namespace

NativeCode::NativeCode(Profile& profile, const ReadOptions& options)
    : profile_(profile), resolver_({options.files, {}, {}}, profile.diagnostics) {}

void NativeCode::add_library(std::string_view path, std::uint64_t begin, std::uint64_t end, bool is_whole) {
  if (begin >= end || libraries_.size() >= kMaxLibraries) return;
  const ImageId image = resolver_.intern_image(path, std::nullopt, 0);
  libraries_.insert_or_assign(image.value, Library{std::string(path), is_whole});
  space_.map({image, {Address{begin}, Address{end}}, FileOffset{0}});
  known_.clear();
}

std::optional<FrameId> NativeCode::find(std::uint64_t address) {
  const auto known = known_.find(address);
  if (known != known_.end()) return known->second;
  const MappedImage* const mapped = space_.find(Address{address});
  if (mapped == nullptr) return std::nullopt;
  const Library& library = libraries_.find(mapped->image.value)->second;
  const std::string_view name =
      library.is_whole ? resolver_[resolver_.resolve(*mapped, Address{address})].name : std::string_view();
  Frame frame = frame_of_symbol(profile_, to_valid_utf8(name), library.path);
  if (frame.kind == FrameKind::kUnknown) frame.kind = FrameKind::kNative;
  const FrameId id = profile_.frames.intern(frame);
  if (known_.size() >= kMaxKnown) known_.clear();
  known_.emplace(address, id);
  return id;
}

}  // namespace nodescope::v8_log
