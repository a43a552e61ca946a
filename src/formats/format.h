#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "base/byte_source.h"
#include "base/progress.h"
#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

struct ReadOptions {
  // Opens binaries and symbol maps that a perf.data refers to; null: symbols stay unknown.
  FileOpener* files = nullptr;
  Progress* progress = nullptr;  // may be null
  unsigned threads = 1;
  // perf.data: code without a symbol is named by its address, "[libc.so.6 <7f3b28c4b8a8>]".
  bool name_unknown_by_address = false;
};

// What the outermost frame of a folded line says about its thread, in the words of stackcollapse-perf.pl.
enum class ThreadLabel : std::uint8_t {
  kName,        // "node"
  kNamePid,     // "node-4711"
  kNamePidTid,  // "node-4711/4712"
};

// For folded stacks; other formats carry all of this anyway.  Inlined frames are always marked, with _[i].
struct WriteOptions {
  bool mark_kernel = true;  // "read_[k]"
  bool mark_jit = true;     // "fib_[j]"
  ThreadLabel thread_label = ThreadLabel::kName;
};

// One file format: how it is recognised, read and written.  A null function: not possible.
struct Format {
  std::string_view name;         // what --from and --to take: "perf-script"
  std::string_view extension;    // what a file is written by: ".folded"; empty if none
  std::string_view description;  // one line for the help

  // `head` is the first kHeadBytes of the decompressed content, or all of it when it is shorter.
  bool (*recognise)(std::string_view head) = nullptr;

  // Damage in the middle gives what could be read plus Diagnostics; an Error only if nothing could be.
  Result<Profile> (*read)(ByteSource& source, const ReadOptions& options) = nullptr;
  Result<void> (*write)(const Profile& profile, const WriteOptions& options, ByteSink& sink) = nullptr;
};

constexpr std::size_t kHeadBytes = 64 * 1024;

// Every format, the most specific first.
std::span<const Format* const> all_formats();

const Format* find_format(std::string_view name);

// Undoes gzip and zstd, recognises the format by content and reads it.
Result<Profile> read_profile(std::unique_ptr<ByteSource> source, const ReadOptions& options);

}  // namespace nodescope
