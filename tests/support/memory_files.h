#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/byte_source.h"

namespace nodescope::testing {

// Files that are only in memory.
class MemoryFiles final : public FileOpener {
 public:
  void add(std::string path, std::string content) {
    files_.insert_or_assign(std::move(path), std::move(content));
  }

  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override {
    const auto file = files_.find(path);
    if (file == files_.end()) return fail(ErrorCode::kNotFound, path + ": no such file");
    return std::make_unique<MemorySource>(file->second, path);
  }

 private:
  std::map<std::string, std::string> files_;
};

}  // namespace nodescope::testing
