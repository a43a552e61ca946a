#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "formats/folded/folded.h"
#include "formats/format.h"
#include "formats/heapsnapshot/heapsnapshot.h"
#include "formats/input.h"
#include "formats/node_report/node_report.h"
#include "formats/other_content.h"
#include "formats/perf_script/perf_script.h"

namespace nodescope {

namespace {

// Of other tools for Node.js.
constexpr std::string_view kHeapSnapshot = "a heap snapshot, which says nothing about the CPU";
constexpr std::string_view kCore = "a core, the memory of a process that has ended: nodescope core reads it";
constexpr std::string_view kDiagnosticReport = "a diagnostic report of Node.js: nodescope info shows it";

constexpr std::size_t kTarMagicOffset = 257;
constexpr std::size_t kShownBytes = 4;
constexpr std::size_t kShownText = 40;

bool is_text(std::string_view head) {
  const std::string_view part = head.substr(0, 512);
  return std::ranges::none_of(part, [](char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1B';
  });
}

std::string describe_start(std::string_view head) {
  if (is_text(head)) {
    const std::string_view line = head.substr(0, head.find_first_of("\r\n"));
    return fmt::format("\"{}{}\"", printable(line.substr(0, kShownText)),
                       line.size() > kShownText ? "…" : "");
  }
  std::string bytes;
  for (const char c : head.substr(0, kShownBytes)) {
    bytes += fmt::format("{}{:02x}", bytes.empty() ? "" : " ", static_cast<std::uint8_t>(c));
  }
  return bytes;
}

bool is_core(std::string_view head) {
  constexpr std::size_t kTypeOffset = 16;
  constexpr char kCoreType = 4;  // ET_CORE, little endian
  return head.starts_with(
             "\x7F"
             "ELF") &&
         head.size() > kTypeOffset + 1 && head[kTypeOffset] == kCoreType && head[kTypeOffset + 1] == 0;
}

// An object whose first key is `key`, and whose first value is one whose first key is `inner`.
bool begins_with_keys(std::string_view head, std::string_view key, std::string_view inner) {
  std::string squeezed;
  for (const char c : head.substr(0, 256)) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') squeezed += c;
  }
  return squeezed.starts_with(fmt::format("{{\"{}\":{{\"{}\":", key, inner));
}

std::string_view describe_kind(std::string_view head) {
  if (is_core(head)) return kCore;
  if (begins_with_keys(head, "snapshot", "meta")) return kHeapSnapshot;
  if (is_node_report(head)) return kDiagnosticReport;
  if (const std::string_view known = known_other_content(head); !known.empty()) return known;
  if (head.starts_with('{') || head.starts_with('[')) return "JSON of another kind";
  if (head.size() > kTarMagicOffset && head.substr(kTarMagicOffset).starts_with("ustar")) {
    return "a tar archive: unpack it first";
  }
  return is_text(head) ? "text" : "binary";
}

std::string names_of_readable_formats() {
  std::string names;
  for (const Format* format : all_formats()) {
    if (format->read == nullptr) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format->name);
  }
  return names;
}

// What the text of other profilers is mistaken for.
bool is_plain_text(const Format& format) {
  return &format == &kPerfScriptFormat || &format == &kFoldedFormat;
}

const Format* recognise(std::string_view head) {
  const bool is_other = !known_other_content(head).empty();
  for (const Format* format : all_formats()) {
    if (is_other && is_plain_text(*format)) continue;
    if (format->recognise != nullptr && format->read != nullptr && format->recognise(head)) return format;
  }
  return nullptr;
}

// A reader that found nothing in a shortened file gave an error about its end; the reason is below it.
Error with_damage(Error error, const Diagnostics& damage) {
  for (const Diagnostic& entry : damage.entries()) {
    error.message += fmt::format(" ({}: {})", entry.what, entry.example);
  }
  return error;
}

// An empty recording is an answer; one that is damaged and gave nothing is none.
bool is_lost(const Profile& profile) {
  return profile.samples.size() == 0 && profile.markers.empty() && profile.diagnostics.has(Severity::kError);
}

Error total_loss(std::string_view name, const Diagnostics& damage) {
  std::string reasons;
  for (const Diagnostic& entry : damage.entries()) {
    if (entry.severity != Severity::kError) continue;
    reasons += fmt::format("{}{}{}{}", reasons.empty() ? "" : "; ", entry.what,
                           entry.example.empty() ? "" : ": ", entry.example);
  }
  return {ErrorCode::kInvalidInput, fmt::format("{}: damaged, no sample could be read: {}", name, reasons)};
}

}  // namespace

Result<Profile> read_profile(std::unique_ptr<ByteSource> source, const ReadOptions& options) {
  auto content = open_content(std::move(source));
  if (!content) return std::unexpected(std::move(content.error()));
  PeekableSource& input = **content;
  if (input.head().empty()) return fail(ErrorCode::kInvalidInput, fmt::format("{}: is empty", input.name()));

  const Format* format = recognise(input.head());
  if (format == nullptr && is_heap_snapshot(input.head())) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("{0}: a heap snapshot, not a profile: try nodescope heap summary {0}", input.name()));
  }
  if (format == nullptr) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("{}: not a profile that nodescope knows (starts with {}: {}). Known: {}", input.name(),
                    describe_start(input.head()), describe_kind(input.head()), names_of_readable_formats()));
  }
  if (options.progress != nullptr) options.progress->total_bytes = input.size().value_or(0);
  auto profile = format->read(input, options);
  if (!profile) return std::unexpected(with_damage(std::move(profile.error()), input.damage()));
  profile->diagnostics.merge(input.damage());
  if (is_lost(*profile)) return std::unexpected(total_loss(input.name(), profile->diagnostics));
  profile->facts["format"] = format->name;
  return profile;
}

}  // namespace nodescope
