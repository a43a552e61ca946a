#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "binary/elf_file.h"
#include "target/images.h"
#include "v8/async_layout.h"
#include "v8/layout.h"
#include "v8/value_facts.h"

namespace nodescope::v8 {

// The V8 in a binary, whichever process has mapped it.
struct Engine {
  Layout layout;
  Range<FileOffset> builtins;  // its embedded builtins
  ValueFacts values = {};
  AsyncLayout async = {};

  // kNotFound when the binary does not hold V8; kUnsupported when it cannot be made use of.
  static Result<Engine> read(const ElfFile& file);
};

// What several processes have in common, each read once.
class ViewCache {
 public:
  explicit ViewCache(FileOpener* debug_files = nullptr) : images_(debug_files) {}

  ImageCache& images() { return images_; }

  // Prepares for a binary that a process is going to run, so that its first samples need not wait for that.
  void read_ahead(const std::string& path);

  // As Engine::read.
  Result<std::shared_ptr<const Engine>> engine(const ImageKey& key, const ElfFile& file);

 private:
  ImageCache images_;
  std::vector<std::pair<ImageKey, Result<std::shared_ptr<const Engine>>>> engines_;
};

}  // namespace nodescope::v8
