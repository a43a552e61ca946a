#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/flat_map.h"
#include "base/id.h"
#include "binary/address_space.h"
#include "binary/build_id.h"
#include "binary/debug_files.h"
#include "binary/elf_file.h"
#include "binary/image.h"
#include "binary/jitdump.h"
#include "binary/kernel_image.h"
#include "binary/perf_map.h"

namespace nodescope {

struct ResolvedSymbolTag;
using ResolvedSymbolId = Id<ResolvedSymbolTag>;

// What is known about an address.  Names and modules are those of `perf script`.
struct ResolvedSymbol {
  std::string_view name;  // empty: not known
  std::string_view module;
  std::optional<SourcePlace> source;  // of generated code
};

struct ResolverOptions {
  FileOpener* files = nullptr;  // null: nothing gets a name
  // Where perf-PID.map, jit-PID.dump and what `perf inject --jit` wrote are looked for first.
  std::string recording_folder;
  DebugFileSearch search;
};

// How the times of a jitdump become times of the recording, by the clock of the dump.  Where that is not
// known, times cannot be compared, and the newest code at an address counts.
struct JitClocks {
  std::optional<JitClock> monotonic;
  std::optional<JitClock> processor;
};

// Names for the addresses of a recording, from the binaries, symbol maps and jitdumps that it refers to. Each
// file is opened when the first address in it is asked for.  A binary whose build id is not the recorded one
// gives no names, and Diagnostics says so.
class Resolver {
 public:
  Resolver(ResolverOptions options, Diagnostics& diagnostics);
  ~Resolver();

  // What a mapping record names: a file, "//anon", "[vdso]".  Generated code belongs to one process.
  ImageId intern_image(std::string_view path, const std::optional<BuildId>& build_id, std::int32_t pid);

  // The process `pid` maps `path`, whose name is that of a jitdump.  Without a clock its times cannot be
  // compared with those of the recording, and the newest code counts.
  void add_jitdump(std::int32_t pid, std::string_view path, const JitClocks& clocks);
  // Puts the generated code of `pid` in place up to `time`.  True if an address that had a name may have
  // another.
  bool advance(std::int32_t pid, std::uint64_t time);

  KernelImage& kernel() { return kernel_; }

  ResolvedSymbolId resolve(const MappedImage& mapped, Address address);
  ResolvedSymbolId resolve_kernel(Address address);
  // No name, in `module`, which must be a constant.
  ResolvedSymbolId unknown_in(std::string_view module);

  const ResolvedSymbol& operator[](ResolvedSymbolId id) const { return symbols_[id.index()]; }

  // For unwinding.
  bool is_generated(ImageId image) const;
  // Null for generated code and where the binary could not be read.
  Image* binary(ImageId image);
  // The bytes of generated code from `address` on, if a jitdump has them.
  std::span<const std::byte> generated_code(ImageId image, Address address);

 private:
  struct Mapped;
  struct GeneratedCode;

  GeneratedCode& generated_code_of(std::int32_t pid);
  void load(Mapped& image);
  std::optional<OwnedElf> open_binary(const Mapped& image);
  std::optional<OwnedElf> open_if_same(const Mapped& image, const std::string& path);
  Result<std::unique_ptr<ByteSource>> open_beside_or_at(const std::string& path);
  void load_map(GeneratedCode& code);
  void load_dump(GeneratedCode& code);

  ResolvedSymbolId resolve_in_binary(Mapped& image, FileOffset offset);
  ResolvedSymbolId resolve_generated(Mapped& image, Address address);
  ResolvedSymbolId add_symbol(const ResolvedSymbol& symbol);
  std::string_view keep(std::string text);

  ResolverOptions options_;
  Diagnostics& diagnostics_;
  KernelImage kernel_;
  std::vector<std::unique_ptr<Mapped>> images_;
  FlatMap<std::string, ImageId> image_ids_;
  FlatMap<std::uint64_t, std::unique_ptr<GeneratedCode>> generated_;  // by pid
  std::vector<ResolvedSymbol> symbols_;
  FlatMap<std::uint64_t, ResolvedSymbolId> kernel_symbols_;  // by KernelImage::Answer::key
  FlatMap<std::string_view, ResolvedSymbolId> unknown_;      // by module
  std::vector<std::unique_ptr<std::string>> texts_;
};

}  // namespace nodescope
