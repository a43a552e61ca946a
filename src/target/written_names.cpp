#include "target/written_names.h"

#include <algorithm>
#include <utility>

#include "binary/generated_code.h"
#include "binary/jitdump.h"
#include "binary/perf_map.h"

namespace nodescope {

namespace {

constexpr std::size_t kPieceBytes = 128 * 1024;
// What one look may take: a process that writes faster than we read, or wrote gigabytes before, must not keep
// us here.  The rest comes with the next looks.
constexpr std::chrono::milliseconds kFirstLook{250};
constexpr std::chrono::milliseconds kLook{30};
// No line and no record of a real file is near this; a process must not fill our memory with one.
constexpr std::size_t kMaxRestBytes = std::size_t{8} << 20;
// The largest maps seen have a million lines.
constexpr std::size_t kMaxNames = std::size_t{2} << 20;
constexpr std::size_t kMaxNameBytes = std::size_t{64} << 20;
constexpr std::chrono::milliseconds kReadInterval{100};

}  // namespace

std::size_t WrittenNames::add_map(std::string_view text) {
  std::size_t used = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', used)) {
    if (const auto line = parse_perf_map_line(text.substr(used, end - used))) note(line->range, line->name);
    used = end + 1;
  }
  return used;
}

Result<std::size_t> WrittenNames::add_dump(std::span<const std::byte> bytes, bool is_begin,
                                           Diagnostics& diagnostics) {
  const auto gain = JitDump::parse_gain(bytes, is_begin, diagnostics);
  if (!gain) return std::unexpected(gain.error());
  for (const JitCode& code : gain->codes) note(code.range, code.name);
  return gain->used_bytes;
}

void WrittenNames::note(Range<Address> range, std::string_view name) {
  const std::size_t known = texts_.size();
  names_.assign(range, texts_.intern(name));
  if (texts_.size() != known) name_bytes_ += name.size();
}

std::string_view WrittenNames::name_at(Address pc) const {
  const StringId* name = names_.find(pc);
  return name == nullptr ? std::string_view() : texts_[*name];
}

std::string WrittenNames::find(const TargetProcess& process, Address pc, Diagnostics& diagnostics) {
  const auto now = std::chrono::steady_clock::now();
  if (now - read_time_ > kReadInterval) {
    read_time_ = now;
    read_map(process, diagnostics);
    read_dump(process, diagnostics);
  }
  return std::string(name_at(pc));
}

void WrittenNames::read_map(const TargetProcess& process, Diagnostics& diagnostics) {
  if (map_.source == nullptr && !map_.given_up) {
    auto source = process.open_perf_map();
    if (source) {
      map_.source = std::move(*source);
    } else if (source.error().code != ErrorCode::kNotFound) {
      map_.given_up = true;
      diagnostics.warn("perf map was not used", source.error().message);
    }
  }
  read_gain(map_, diagnostics,
            [&](std::string_view text, bool) -> Result<std::size_t> { return add_map(text); });
}

void WrittenNames::read_dump(const TargetProcess& process, Diagnostics& diagnostics) {
  if (dump_.source == nullptr && !dump_.given_up) {
    const auto region = std::ranges::find_if(
        process.map().regions(), [](const Region& mapped) { return is_jitdump_path(mapped.path); });
    if (region == process.map().regions().end()) return;
    auto source = process.open_own_file(region->path);
    if (source) {
      dump_.source = std::move(*source);
    } else {
      dump_.given_up = true;
      diagnostics.warn("jitdump was not used", source.error().message);
    }
  }
  read_gain(dump_, diagnostics, [&](std::string_view bytes, bool is_begin) {
    return add_dump(as_byte_span(bytes), is_begin, diagnostics);
  });
}

template <typename Add>
void WrittenNames::read_gain(GrowingFile& file, Diagnostics& diagnostics, Add add) {
  const auto end = std::chrono::steady_clock::now() + (file.used_bytes == 0 ? kFirstLook : kLook);
  while (file.source != nullptr) {
    if (std::chrono::steady_clock::now() > end) {
      diagnostics.info("looks at the names that a process writes which did not reach their end in time",
                       std::string(file.source->name()));
      return;
    }
    const std::size_t old_bytes = file.rest.size();
    file.rest.resize(old_bytes + kPieceBytes);
    const auto count = file.source->read_at(file.used_bytes + old_bytes,
                                            std::as_writable_bytes(std::span(file.rest)).subspan(old_bytes));
    file.rest.resize(old_bytes + count.value_or(0));
    if (!count || *count == 0) return;
    const auto used = add(std::string_view(file.rest), file.used_bytes == 0);
    const bool too_much =
        names_.size() > kMaxNames || name_bytes_ > kMaxNameBytes || file.rest.size() > kMaxRestBytes;
    if (!used || too_much) {
      diagnostics.warn("names that the process writes are read no further",
                       !used ? used.error().message : std::string(file.source->name()));
      file = GrowingFile();
      file.given_up = true;
      return;
    }
    file.rest.erase(0, *used);
    file.used_bytes += *used;
  }
}

}  // namespace nodescope
