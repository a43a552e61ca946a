#include "target/usr1_handler.h"

#include <fmt/format.h>
#include <signal.h>

#include <optional>
#include <vector>

#include "base/text.h"
#include "os/procfs.h"
#include "target/live_process.h"
#include "target/process.h"

namespace nodescope {

namespace {

// uv_signal_t of libuv 1.x on 64-bit Unix: the fields of every handle take 96 bytes, then come signal_cb,
// signum and the links of a red-black tree that is ordered by signal number.
constexpr std::uint64_t kTypeOffset = 16;
constexpr std::uint64_t kSignalOffset = 104;
constexpr std::uint64_t kLeftOffset = 112;
constexpr std::uint64_t kRightOffset = 120;
constexpr std::uint32_t kUvSignal = 16;
// One for every process.on(signal) of every loop.
constexpr std::size_t kMaxHandles = 10'000;

// The mask after `name`, as in "SigCgt:\t0000000188004a03".
std::uint64_t mask_of(std::string_view status, std::string_view name) {
  const std::size_t line = status.find(name);
  if (line == std::string_view::npos) return 0;
  std::string_view rest = status.substr(line + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  return parse_hex(rest.substr(0, rest.find('\n'))).value_or(0);
}

// The root of libuv's tree is a static variable; compilers may add a number to the name of one.
std::optional<FileAddress> find_tree(const ElfFile& file) {
  const ElfSymbols symbols = file.symtab();
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].value != 0 && symbols.name(symbols[i]).starts_with("uv__signal_tree"))
      return FileAddress{symbols[i].value};
  }
  return std::nullopt;
}

std::optional<Address> find_tree(const TargetProcess& process) {
  for (const Region& region : process.map().regions()) {
    if (!region.executable || !region.has_file()) continue;
    const auto elf = process.open_image(region);
    if (!elf) continue;
    const auto tree = find_tree(elf->file());
    const auto code = elf->file().to_address(region.offset);
    if (tree && code) return region.range.begin + (*tree - *code);
  }
  return std::nullopt;
}

}  // namespace

Usr1Handler parse_usr1_disposition(std::string_view status) {
  constexpr std::uint64_t kBit = std::uint64_t{1} << (SIGUSR1 - 1);
  if ((mask_of(status, "\nSigIgn:") & kBit) != 0) return Usr1Handler::kIgnored;
  if ((mask_of(status, "\nSigCgt:") & kBit) == 0) return Usr1Handler::kNone;
  if ((mask_of(status, "\nSigBlk:") & kBit) != 0) return Usr1Handler::kBlocked;
  return Usr1Handler::kNode;
}

Result<bool> has_uv_handler(Memory& memory, Address root, std::int32_t signal_number) {
  const auto damaged = [] {
    return fail(ErrorCode::kUnsupported, "libuv's list of signal handlers is not understood");
  };
  const auto first = memory.load<std::uint64_t>(root);
  if (!first) return damaged();
  std::vector<std::uint64_t> pending;
  if (*first != 0) pending.push_back(*first);
  for (std::size_t seen = 0; !pending.empty(); ++seen) {
    const Address handle{pending.back()};
    pending.pop_back();
    const auto type = memory.load<std::uint32_t>(handle + kTypeOffset);
    const auto number = memory.load<std::int32_t>(handle + kSignalOffset);
    const auto left = memory.load<std::uint64_t>(handle + kLeftOffset);
    const auto right = memory.load<std::uint64_t>(handle + kRightOffset);
    if (!type || !number || !left || !right || *type != kUvSignal || seen == kMaxHandles) return damaged();
    if (*number == signal_number) return true;
    if (*left != 0) pending.push_back(*left);
    if (*right != 0) pending.push_back(*right);
  }
  return false;
}

Result<Usr1Handler> find_usr1_handler(pid_t pid) {
  const auto status = read_proc_file(pid, "status");
  if (!status) return std::unexpected(status.error());
  const Usr1Handler disposition = parse_usr1_disposition(*status);
  if (disposition != Usr1Handler::kNode) return disposition;
  const auto process = LiveProcess::open(pid);
  if (!process) return std::unexpected(process.error());
  if (const auto node = find_node_binary(**process); !node) return std::unexpected(node.error());
  const auto tree = find_tree(**process);
  if (!tree) return Usr1Handler::kUnknown;
  const auto own = has_uv_handler((*process)->memory(), *tree, SIGUSR1);
  if (!own) return Usr1Handler::kUnknown;
  return *own ? Usr1Handler::kProgram : Usr1Handler::kNode;
}

}  // namespace nodescope
