#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/flat_map.h"
#include "binary/address_space.h"
#include "binary/resolver.h"
#include "formats/format.h"
#include "model/profile.h"

namespace nodescope::v8_log {

// The binary and the libraries that a log names, with the names of their functions where the files are here.
class NativeCode {
 public:
  NativeCode(Profile& profile, const ReadOptions& options);

  // `begin` is where the first byte of the file would be; without `is_whole`, only where its code is, and
  // then nothing gets a name.
  void add_library(std::string_view path, std::uint64_t begin, std::uint64_t end, bool is_whole);

  // Nothing if no library is there.
  std::optional<FrameId> find(std::uint64_t address);

 private:
  struct Library {
    std::string path;
    bool is_whole = true;
  };

  Profile& profile_;
  Resolver resolver_;
  AddressSpace space_;
  FlatMap<std::uint64_t, Library> libraries_;  // by image
  FlatMap<std::uint64_t, FrameId> known_;      // by address
};

}  // namespace nodescope::v8_log
