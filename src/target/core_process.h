#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "binary/core_file.h"
#include "target/process.h"

namespace nodescope {

// A piece of memory whose bytes lie in a file.
struct MemoryPiece {
  Range<Address> range;
  const std::byte* bytes = nullptr;
};

// Memory that does not change: what a core and the binaries beside it have of a process.
class DeadMemory final : public Memory {
 public:
  // Sorted by address, without overlaps.
  void set_pieces(std::vector<MemoryPiece> pieces) { pieces_ = std::move(pieces); }

  bool read(Address address, std::span<std::byte> into) override;
  std::span<const MemoryPiece> pieces() const { return pieces_; }

 private:
  const MemoryPiece* find(Address address) const;

  std::vector<MemoryPiece> pieces_;
};

struct CoreOptions {
  // The program that the process ran; empty: it is searched for.
  std::string executable = {};
  // Where else binaries may lie: each as FOLDER/path/in/core or FOLDER/name.
  std::vector<std::string> folders = {};
};

// A binary that the process had mapped, and where it was found.
struct CoreBinary {
  std::string path;  // as the process knew it
  std::optional<BuildId> build_id = {};
  std::string found_at = {};  // empty: not found
  bool is_named = false;      // by the user
  bool is_verified = false;   // it has the build id that the core has
  bool is_executable = false;
};

// The process behind a core file.  What the core leaves out because it is in a file, code above all, comes
// from binaries that are found by path and build id.
class CoreProcess final : public TargetProcess {
 public:
  // Keeps the source.  kNotFound when `options.executable` is not the program of this core.
  static Result<std::unique_ptr<CoreProcess>> open(std::unique_ptr<ByteSource> source,
                                                   const CoreOptions& options, Diagnostics& diagnostics);

  const CoreFile& core() const { return core_; }
  std::span<const CoreBinary> binaries() const { return binaries_; }
  // All of the memory, by address.
  std::span<const MemoryPiece> pieces() const { return memory_.pieces(); }
  // In the initial stack, as far as the core has it.
  struct Invocation {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
  };
  Invocation invocation();

  pid_t pid() const override;
  const std::string& executable() const override { return executable_; }
  const std::optional<std::string>& container_id() const override { return container_id_; }
  const MemoryMap& map() const override { return map_; }
  Result<void> refresh_map() override { return {}; }
  Memory& memory() override { return memory_; }
  Result<std::unique_ptr<Standstill>> stop() override;
  std::string thread_name(pid_t tid) const override;
  Result<OwnedElf> open_image(const Region& region) const override;
  bool has_mapped(const Region& region, const ElfFile& file) const override;
  Result<std::unique_ptr<ByteSource>> open_own_file(const std::string& path) const override;
  Result<std::unique_ptr<ByteSource>> open_perf_map() const override;

 private:
  CoreProcess(std::unique_ptr<ByteSource> source, std::string storage)
      : source_(std::move(source)), storage_(std::move(storage)) {}

  // A part of memory that begins and ends where a segment or a mapping does.
  struct Part {
    Range<Address> range;
    const CoreSegment* segment = nullptr;
    const CoreMapping* mapping = nullptr;
  };

  std::vector<Part> derive_parts() const;
  void number_files(const std::vector<Part>& parts);
  Result<void> find_binaries(const std::vector<Part>& parts, const CoreOptions& options,
                             Diagnostics& diagnostics);
  std::optional<BuildId> build_id_in_memory(Address header);
  std::vector<std::string> candidates(const CoreBinary& binary, const CoreOptions& options) const;
  Result<void> find_binary(std::size_t number, const CoreOptions& options);
  void build_memory(const std::vector<Part>& parts);
  void build_map(const std::vector<Part>& parts);
  const OwnedElf* image_of(const CoreMapping& mapping) const;
  std::size_t number_of(std::string_view path) const;

  std::unique_ptr<ByteSource> source_;
  std::string storage_;  // of a source that cannot be mapped
  CoreFile core_;
  DeadMemory memory_;
  MemoryMap map_;
  std::string executable_;
  std::optional<std::string> container_id_;
  std::vector<CoreBinary> binaries_;             // by path
  std::vector<std::optional<OwnedElf>> images_;  // of the same index
};

}  // namespace nodescope
