#include "base/diagnostics.h"

#include <algorithm>

namespace nodescope {

void Diagnostics::add(Severity severity, std::string_view what, std::string_view example,
                      std::uint64_t count) {
  if (count == 0) return;
  const auto found = std::ranges::find(entries_, what, &Diagnostic::what);
  if (found == entries_.end()) {
    entries_.push_back({std::string(what), severity, count, std::string(example)});
    return;
  }
  found->count += count;
  found->severity = std::max(found->severity, severity);
  if (found->example.empty()) found->example = example;
}

void Diagnostics::merge(const Diagnostics& other) {
  for (const Diagnostic& entry : other.entries_) add(entry.severity, entry.what, entry.example, entry.count);
}

std::uint64_t Diagnostics::count(std::string_view what) const {
  const auto found = std::ranges::find(entries_, what, &Diagnostic::what);
  return found == entries_.end() ? 0 : found->count;
}

bool Diagnostics::has(Severity at_least) const {
  return std::ranges::any_of(entries_, [&](const Diagnostic& entry) { return entry.severity >= at_least; });
}

}  // namespace nodescope
