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
#include "base/result.h"
#include "binary/address.h"

namespace nodescope {

struct KernelSymbol {
  Address address;
  std::string_view name;
  std::string_view module;  // "nf_tables"; empty for the kernel itself; "bpf" for BPF programs

  bool operator==(const KernelSymbol&) const = default;
};

// The functions of /proc/kallsyms by address.  Names are views into what it keeps of the text.
class KernelSymbols {
 public:
  // /proc/kallsyms of a kernel with everything built in has 250,000 lines, 15 MB.
  static constexpr std::uint64_t kMaxBytes = 256u << 20;

  KernelSymbols() = default;

  // Lines that cannot be understood are skipped and counted.  All addresses zero (kernel.kptr_restrict, no
  // CAP_SYSLOG) is not an error here: addresses_hidden() tells, and Diagnostics gets the remedy.
  static Result<KernelSymbols> read(ByteSource& source, Diagnostics& diagnostics);

  // The last function that begins at or before `address`.  kallsyms has no sizes: a function reaches to the
  // next one; the last of a module to the end of the page after it.
  std::optional<KernelSymbol> find(Address address) const;

  // The address of a function, e.g. "_text" or "_stext", to compare with a recording's reference relocation
  // symbol.
  std::optional<Address> address_of(std::string_view name) const;

  bool addresses_hidden() const { return addresses_hidden_; }
  // Several may be of one address.
  std::size_t size() const { return entries_.size(); }
  KernelSymbol operator[](std::size_t index) const;

 private:
  struct Entry {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t name;  // offsets in names_, in the order of the text
    std::uint32_t module;
    std::uint16_t name_size;
    std::uint16_t module_size;
  };

  std::string_view name_of(const Entry& entry) const {
    return std::string_view(*names_).substr(entry.name, entry.name_size);
  }
  std::string_view module_of(const Entry& entry) const {
    return std::string_view(*names_).substr(entry.module, entry.module_size);
  }
  void add(std::uint64_t address, std::string_view name, std::string_view module);
  void index();

  std::unique_ptr<std::string> names_ = std::make_unique<std::string>();
  std::vector<Entry> entries_;         // sorted by begin
  std::vector<std::uint64_t> begins_;  // theirs, apart, so that a search stays in the cache
  bool addresses_hidden_ = false;
};

}  // namespace nodescope
