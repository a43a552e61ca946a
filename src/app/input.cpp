#include "app/input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "app/note.h"
#include "app/progress_line.h"
#include "base/path.h"
#include "base/text.h"
#include "os/file.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

Result<Profile> read_with_progress(std::unique_ptr<ByteSource> source) {
  Result<Profile> profile = fail(ErrorCode::kSystem, "not read");
  with_read_options(*source,
                    [&](const ReadOptions& options) { profile = read_profile(std::move(source), options); });
  return profile;
}

std::string shown_name(const std::string& path) {
  return path == "-" ? "standard input" : std::string(file_name_of(path));
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_input(const std::string& path) {
  if (path != "-") return open_file(path);
  if (standard_input_is_terminal()) {
    return fail(ErrorCode::kUsage, "no input: name a file, or send a profile to standard input");
  }
  return open_standard_input();
}

std::vector<std::string> inputs_of(const std::vector<std::string>& paths) {
  return paths.empty() ? std::vector<std::string>{"-"} : paths;
}

std::vector<std::string> display_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(shown_name(path));
  const std::set<std::string> different(names.begin(), names.end());
  return different.size() == names.size() ? names : paths;
}

std::string joined_names(const std::vector<std::string>& paths) {
  return fmt::format("{}", fmt::join(display_names(inputs_of(paths)), ", "));
}

void with_read_options(const ByteSource& source, const std::function<void(const ReadOptions&)>& work) {
  HostFiles files;
  Progress progress;
  progress.total_bytes = source.size().value_or(0);
  const ProgressLine line(progress, fmt::format("reading {}", source.name()));
  work({&files, &progress, available_cores()});
}

Result<std::unique_ptr<PeekableSource>> open_content_of(const std::string& path) {
  auto source = open_input(path);
  if (!source) return std::unexpected(source.error());
  return open_content(std::move(*source));
}

Result<Profile> read_input_quietly(std::unique_ptr<ByteSource> source) {
  return read_with_progress(std::move(source));
}

Result<Profile> read_input(const std::string& path) {
  auto source = open_input(path);
  if (!source) return std::unexpected(source.error());
  return read_input(std::move(*source));
}

Result<Profile> read_input(std::unique_ptr<ByteSource> source) {
  const std::string name(source->name());
  auto profile = read_with_progress(std::move(source));
  if (profile) print_diagnostics(profile->diagnostics, name);
  return profile;
}

Result<Profile> read_inputs(const std::vector<std::string>& paths) {
  auto profile = read_input(paths.empty() ? "-" : paths.front());
  for (std::size_t i = 1; profile && i < paths.size(); ++i) {
    const auto next = read_input(paths[i]);
    if (!next) return std::unexpected(next.error());
    append(*profile, *next);
  }
  return profile;
}

void print_diagnostics(const Diagnostics& diagnostics, const std::string& path) {
  for (const Diagnostic& entry : diagnostics.entries()) {
    if (entry.severity == Severity::kInfo) continue;
    note("nodescope: {}: {}{}{}\n", printable(path), printable(entry.what),
         entry.count > 1 ? fmt::format(" ({} times)", with_thousands(entry.count)) : "",
         entry.example.empty() ? "" : fmt::format(": {}", printable(entry.example)));
  }
}

}  // namespace nodescope
