#pragma once

#include <functional>
#include <string>

#include "base/byte_sink.h"
#include "base/result.h"
#include "os/output_file.h"

namespace nodescope {

// Where results go: standard output for "-", else a file that appears whole or not at all.
Result<void> write_output(const std::string& path, const std::function<Result<void>(ByteSink&)>& write,
                          Readers readers = Readers::kByUmask);

// For output that no terminal should get: `fallback` in this folder if standard output is one, and its name
// on standard error.
std::string binary_output_path(const std::string& path, const std::string& fallback);

// "app.heapsnapshot", "4711" -> "app-4711.heapsnapshot".
std::string with_suffix(const std::string& path, const std::string& suffix);

}  // namespace nodescope
