#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nodescope {

// Where written bytes go: a file, standard output, memory.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Result<void> write(std::string_view bytes) = 0;
};

class StringSink final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace nodescope
