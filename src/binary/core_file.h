#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "binary/address.h"
#include "binary/unwinder.h"

namespace nodescope {

// A part of the memory of the process.
struct CoreSegment {
  Range<Address> range;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  std::uint64_t dumped_bytes = 0;      // from the beginning of the range; the others were left out on purpose
  std::span<const std::byte> content;  // of these, what is in the file: less where it was cut off
};

struct CoreMapping {
  Range<Address> range;
  FileOffset offset;
  std::string_view path;
};

struct CoreThread {
  std::int32_t tid = 0;
  std::int32_t signal = 0;  // that it was about to receive; 0: none
  RegisterSet registers;
  std::uint64_t thread_pointer = 0;  // fs_base
};

struct CoreSignal {
  std::int32_t number = 0;
  std::int32_t code = 0;                   // SI_USER, SEGV_MAPERR, ...
  std::optional<Address> fault_address;    // of SIGSEGV, SIGBUS, SIGILL, SIGFPE
  std::optional<std::int32_t> sender_pid;  // of kill() and its like
};

// The core file of an x86-64 Linux process, as the kernel, gdb or we write it.  Borrows from the bytes.  The
// file may be hostile: lists are bounded, ranges that overlap an earlier one are left out, and what is beyond
// the end of the file is missing.
class CoreFile {
 public:
  static constexpr std::size_t kMaxSegments = std::size_t{1} << 18;  // vm.max_map_count is 65,530
  static constexpr std::size_t kMaxMappings = kMaxSegments;
  static constexpr std::size_t kMaxThreads = std::size_t{1} << 16;

  // What is damaged is counted in `diagnostics`.
  static Result<CoreFile> parse(std::span<const std::byte> bytes, Diagnostics& diagnostics);

  // By address, without overlaps.
  std::span<const CoreSegment> segments() const { return segments_; }
  std::span<const CoreMapping> mappings() const { return mappings_; }
  // In the file's order: the kernel begins with the thread that received the signal.
  std::span<const CoreThread> threads() const { return threads_; }

  const std::optional<CoreSignal>& signal() const { return signal_; }
  std::optional<std::uint64_t> auxiliary(std::uint64_t type) const;  // AT_*
  std::optional<std::int32_t> pid() const { return pid_; }
  // The first 15 characters of its name and the first 79 of its command line, as the kernel keeps them.
  std::string_view name() const { return name_; }
  std::string_view command_line() const { return command_line_; }

  std::uint64_t dumped_bytes() const { return dumped_bytes_; }
  std::uint64_t cut_bytes() const { return cut_bytes_; }

 private:
  void add_segment(const CoreSegment& segment, Diagnostics& diagnostics);
  void read_notes(std::span<const std::byte> notes, Diagnostics& diagnostics);
  void read_note(std::uint32_t type, std::span<const std::byte> description, Diagnostics& diagnostics);
  void read_thread(std::span<const std::byte> description, Diagnostics& diagnostics);
  void read_mappings(std::span<const std::byte> description, Diagnostics& diagnostics);
  void read_signal(std::span<const std::byte> description);
  void read_process(std::span<const std::byte> description);
  void read_auxiliary(std::span<const std::byte> description);
  void sort(Diagnostics& diagnostics);

  std::vector<CoreSegment> segments_;
  std::vector<CoreMapping> mappings_;
  std::vector<CoreThread> threads_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> auxiliary_;
  std::optional<CoreSignal> signal_;
  std::optional<std::int32_t> pid_;
  std::string_view name_;
  std::string_view command_line_;
  std::uint64_t dumped_bytes_ = 0;
  std::uint64_t cut_bytes_ = 0;
};

}  // namespace nodescope
