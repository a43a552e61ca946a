#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "binary/image.h"
#include "target/memory.h"
#include "target/process.h"

namespace nodescope {

// A file as /proc/PID/maps names it; for the vdso the address of its only mapping.
struct ImageKey {
  std::string device;
  std::uint64_t number = 0;
  bool operator==(const ImageKey&) const = default;
};

ImageKey key_of(const Region& region);

// Binaries that several processes have mapped, each read once.
class ImageCache {
 public:
  // Separate debug files are those of this machine, or those in `files`.
  explicit ImageCache(FileOpener* files = nullptr) : files_(files) {}

  // With its separate debug file, which is known by its build id: that of a process in a container is another
  // one of the same name, and a checksum, the other way to know one, takes as long as the file is large.
  std::shared_ptr<Image> make(OwnedElf elf, const std::string& path) const;
  std::shared_ptr<Image> find(const ImageKey& key) const;
  void add(const ImageKey& key, std::shared_ptr<Image> image) { images_.emplace_back(key, std::move(image)); }
  // Reads a binary that a process is going to map, and gives the key that it will have there.  Nothing when
  // it is none or known already.
  std::optional<ImageKey> read_ahead(const std::string& path);

 private:
  FileOpener* files_;
  std::vector<std::pair<ImageKey, std::shared_ptr<Image>>> images_;
};

// The binaries of one process.
class Images {
 public:
  Images(const TargetProcess& process, Memory& memory, ImageCache& cache)
      : process_(process), memory_(memory), cache_(cache) {}

  // Opens what is executable in the map now.  What cannot be opened is noted once and has no image.
  void load_all(Diagnostics& diagnostics);

  // `region` must be one of the map that load_all saw last.  Null for anonymous memory and for what could not
  // be opened.
  Image* find(const Region& region) const;

 private:
  std::shared_ptr<Image> load(const Region& region, const ImageKey& key, Diagnostics& diagnostics);
  Result<OwnedElf> open(const Region& region);

  const TargetProcess& process_;
  Memory& memory_;
  ImageCache& cache_;
  std::vector<std::pair<ImageKey, std::shared_ptr<Image>>> images_;
  std::vector<Image*> by_region_;
};

}  // namespace nodescope
