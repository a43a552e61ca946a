#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "binary/address.h"
#include "binary/build_id.h"
#include "binary/debug_files.h"
#include "binary/kallsyms.h"
#include "binary/range_map.h"

namespace nodescope {

// What a recording says about the kernel that it was made on.
struct KernelIdentity {
  std::optional<BuildId> build_id;
  std::string release;  // uname -r; empty: not known
  // The kernel's code and the address that _text (or another symbol) had, which is another one after each
  // boot.
  Range<Address> text;
  std::string reference_symbol;
  std::optional<Address> reference_address;
};

// The kernel of a recording.  Its names come from /proc/kallsyms if the kernel that runs now is the same one,
// else from the copy that perf keeps; never from another kernel.
class KernelImage {
 public:
  struct Answer {
    std::string_view name;
    std::string_view module;  // as perf prints it: "[kernel.kallsyms]", "[nf_tables]"
    std::uint64_t key = 0;    // the same for every address of a symbol, different for every symbol
  };

  KernelImage(FileOpener* files, const DebugFileSearch& search, Diagnostics& diagnostics)
      : files_(files), search_(search), diagnostics_(diagnostics) {}

  // To be filled in before the first resolve().
  KernelIdentity& identity() { return identity_; }

  void map_module(Range<Address> range, std::string_view name);
  // Code that the kernel generated: BPF programs, trampolines.
  void add_generated(Range<Address> range, std::string_view name);
  void remove_generated(Range<Address> range) { generated_.erase(range); }

  // The views are valid as long as this object lives.
  std::optional<Answer> resolve(Address address);

 private:
  void load();
  std::optional<KernelSymbols> read_running_kernel();
  std::optional<KernelSymbols> read_kept_copy();
  bool is_running_kernel(const KernelSymbols& running);
  std::optional<std::string> read_text(const std::string& path);
  std::string_view module_text(std::string_view module);

  struct Generated {
    std::string_view name;
    std::uint64_t key = 0;  // counted from 1: never the address of a symbol
  };

  FileOpener* files_;
  const DebugFileSearch& search_;
  Diagnostics& diagnostics_;
  KernelIdentity identity_;
  bool loaded_ = false;
  KernelSymbols symbols_;
  std::uint64_t shift_ = 0;  // symbols_ has what is at `address` at address + shift_
  RangeMap<std::string> modules_;
  RangeMap<Generated> generated_;
  std::deque<std::string> generated_names_;
  std::map<std::string, std::string, std::less<>> module_texts_;
};

// The build id in ELF notes as they lie in memory, such as those of /sys/kernel/notes.
std::optional<BuildId> build_id_of_notes(std::string_view notes);

}  // namespace nodescope
