#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nodescope {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };

// One kind of loss or doubt: what, how often, and the first case of it.
struct Diagnostic {
  std::string what;  // plain words, the key: "stack line not understood"
  Severity severity = Severity::kWarning;
  std::uint64_t count = 0;
  std::string example;  // the first case, with file offset or line where known

  bool operator==(const Diagnostic&) const = default;
};

// Counters of partial damage, carried in the model and shown to the user.  The number of kinds is the
// number of call sites in our code, so a linear search is enough.
class Diagnostics {
 public:
  void add(Severity severity, std::string_view what, std::string_view example = {}, std::uint64_t count = 1);
  void info(std::string_view what, std::string_view example = {}) { add(Severity::kInfo, what, example); }
  void warn(std::string_view what, std::string_view example = {}) { add(Severity::kWarning, what, example); }
  void error(std::string_view what, std::string_view example = {}) { add(Severity::kError, what, example); }

  // Adds all of `other`, e.g. of a worker thread or a second file.
  void merge(const Diagnostics& other);

  std::uint64_t count(std::string_view what) const;
  bool has(Severity at_least) const;
  const std::vector<Diagnostic>& entries() const { return entries_; }

  bool operator==(const Diagnostics&) const = default;

 private:
  std::vector<Diagnostic> entries_;
};

}  // namespace nodescope
