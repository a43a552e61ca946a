#include "formats/perf_data/stack_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/path.h"
#include "base/text.h"
#include "binary/process_code.h"
#include "formats/symbol_name.h"
#include "perf/words.h"

namespace nodescope::perf {

StackBuilder::Mode StackBuilder::mode_of_cpu(std::uint16_t cpu_mode) {
  switch (cpu_mode) {
    case kMiscKernel:
      return Mode::kKernel;
    case kMiscHypervisor:
      return Mode::kHypervisor;
    case kMiscGuestKernel:
      return Mode::kGuestKernel;
    case kMiscGuestUser:
      return Mode::kGuestUser;
    default:
      return Mode::kUser;
  }
}

std::optional<StackBuilder::Mode> StackBuilder::mode_of_marker(std::uint64_t marker) {
  switch (marker) {
    case kContextKernel:
      return Mode::kKernel;
    case kContextUser:
      return Mode::kUser;
    case kContextHypervisor:
      return Mode::kHypervisor;
    case kContextGuest:
    case kContextGuestKernel:
      return Mode::kGuestKernel;
    case kContextGuestUser:
      return Mode::kGuestUser;
    default:
      return std::nullopt;
  }
}

// Fills parts_.
void StackBuilder::split(std::span<const std::byte> callchain, Mode mode) {
  std::optional<Mode> current = mode;
  std::size_t begin = 0;
  const std::size_t count = callchain.size() / 8;
  const auto end_part = [&](std::size_t end) {
    if (current && end > begin) parts_.push_back({*current, callchain.subspan(begin * 8, (end - begin) * 8)});
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t entry = load_word(callchain, i);
    if (entry < kContextMax) continue;
    end_part(i);
    begin = i + 1;
    // The part after an unknown marker means something that we do not know, such as the ticket for a user
    // stack that is delivered later (PERF_CONTEXT_USER_DEFERRED).
    current = mode_of_marker(entry);
    if (!current) profile_.diagnostics.info("part of a call chain of an unknown kind: left out");
  }
  end_part(count);
}

// Registers of other architectures have other numbers; those of x86 end at 23.
bool StackBuilder::can_unwind(const EventAttribute& event) const {
  return (architecture_.empty() || architecture_ == "x86_64") && event.user_registers >> 24 == 0;
}

// Puts the user's part of the stack, found from registers and a copy of the stack, in place of that of the
// call chain, which has only its innermost address.
void StackBuilder::unwind(const EventAttribute& event, const SampleRecord& sample, ProcessState& process) {
  if (sample.stack.empty() || sample.register_abi != kRegisterAbi64) return;
  const RegisterSet registers = registers_of(event, sample);
  const auto stack_pointer = registers.get(Register::kRsp);
  if (!can_unwind(event) || !stack_pointer) {
    profile_.diagnostics.warn(
        "copies of stacks of this architecture are not unwound: only innermost frames are shown",
        architecture_);
    return;
  }
  ProcessCode code(resolver_, process.space);
  const UnwoundStack stack = unwinder_.unwind(registers, {Address{*stack_pointer}, sample.stack}, code);
  if (stack.pcs.empty()) return;
  if (stack.end == UnwindEnd::kSnapshotEnd) {
    profile_.diagnostics.info("stack deeper than the recorded copy: its outer part is missing");
  } else if (stack.end != UnwindEnd::kRoot) {
    profile_.diagnostics.info("stack could not be followed to its outermost frame", to_string(stack.end));
  }
  unwound_.resize(stack.pcs.size() * 8);
  std::memcpy(unwound_.data(), stack.pcs.data(), unwound_.size());
  std::erase_if(parts_, [](const Part& part) { return part.mode == Mode::kUser; });
  parts_.push_back({Mode::kUser, unwound_});
}

StackId StackBuilder::build(const EventAttribute& event, const SampleRecord& sample, std::uint16_t cpu_mode,
                            ProcessState& process) {
  parts_.clear();
  answer_may_change_ = false;
  const Mode mode = mode_of_cpu(cpu_mode);
  const Part innermost{mode, std::as_bytes(std::span(&sample.ip, sample.has_ip ? 1 : 0))};
  if ((event.sample_type & kSampleStackUser) != 0) {
    split(sample.callchain, mode);
    unwind(event, sample, process);
    if (parts_.empty()) parts_.push_back(innermost);
    return build_parts(process);
  }
  const auto chain = sample.callchain.empty() ? innermost.addresses : sample.callchain;
  const ChainKey key = key_of(chain, mode, process);
  const auto known = chains_.find(key);
  if (known != chains_.end()) return known->second;
  split(chain, mode);
  if (parts_.empty()) {
    parts_.push_back(innermost);
    return build_parts(process);
  }
  const StackId stack = build_parts(process);
  if (chains_.size() >= kMaxChains) chains_.clear();
  if (!answer_may_change_) chains_.emplace(key, stack);
  return stack;
}

StackBuilder::ChainKey StackBuilder::key_of(std::span<const std::byte> callchain, Mode mode,
                                            const ProcessState& process) const {
  constexpr std::uint64_t kA = 0xA0761D6478BD642Fu;
  constexpr std::uint64_t kB = 0xE7037ED1A0B428DBu;
  const std::size_t count = callchain.size() / 8;
  const std::uint64_t places = std::uint64_t{process.place} << 32 | kernel_place_;
  ChainKey key{mix(places ^ kA, count ^ kB), mix(places ^ kB, static_cast<std::uint64_t>(mode) ^ kA)};
  for (std::size_t i = 0; i < count; i += 2) {
    const std::uint64_t first = load_word(callchain, i);
    const std::uint64_t second = i + 1 < count ? load_word(callchain, i + 1) : 0;
    key = {mix(first ^ key.high, second ^ kA), mix(first ^ kB, second ^ key.low)};
  }
  return key;
}

StackId StackBuilder::build_parts(ProcessState& process) {
  StackId stack = kEmptyStack;
  std::size_t depth = 0;
  for (std::size_t i = parts_.size(); i-- > 0;) {
    const Part& part = parts_[i];
    const PlaceNumber place = place_of(part.mode, process);
    for (std::size_t k = part.addresses.size() / 8; k-- > 0; ++depth) {
      // The innermost address of a part is where the processor was; the others are behind a call.
      const AddressKey key{load_word(part.addresses, k), place, k != 0};
      if (depth < last_steps_.size() && last_steps_[depth].key == key) {
        stack = last_steps_[depth].stack;
        continue;
      }
      last_steps_.resize(depth);
      stack = profile_.stacks.push(stack, find_frame(key, part.mode, process));
      last_steps_.push_back({key, stack});
    }
  }
  if (answer_may_change_) last_steps_.clear();
  return stack;
}

PlaceNumber StackBuilder::place_of(Mode mode, const ProcessState& process) const {
  switch (mode) {
    case Mode::kUser:
      return process.place;
    case Mode::kKernel:
      return kernel_place_;
    default:
      // Nothing is known about their addresses, so any number does that is not a process's or the kernel's.
      return UINT32_MAX - static_cast<PlaceNumber>(mode);
  }
}

FrameId StackBuilder::find_frame(const AddressKey& key, Mode mode, ProcessState& process) {
  const auto known = frames_.find(key);
  if (known != frames_.end()) return known->second;
  const Address address{key.address};
  const auto resolve_at = [&](Address place) { return resolve(place, mode, process); };
  const auto name_of = [&](ResolvedSymbolId symbol) { return resolver_[symbol].name; };
  const ResolvedSymbolId symbol =
      key.is_return ? resolve_caller(address, resolve_at, name_of) : resolve_at(address);
  const bool by_address = name_unknown_by_address_ && resolver_[symbol].name.empty();
  const FrameId frame =
      by_address ? frame_of_address(address, resolver_[symbol].module) : frame_of(symbol, mode);
  if (process.has_jitdump && resolver_[symbol].name.empty()) {
    answer_may_change_ = true;
    return frame;
  }
  if (frames_.size() >= kMaxAddresses) frames_.clear();
  frames_.emplace(key, frame);
  return frame;
}

ResolvedSymbolId StackBuilder::resolve(Address address, Mode mode, ProcessState& process) {
  switch (mode) {
    case Mode::kKernel:
      return resolver_.resolve_kernel(address);
    case Mode::kHypervisor:
      return resolver_.unknown_in("[hypervisor]");
    case Mode::kGuestKernel:
      return resolver_.unknown_in("[guest.kernel.kallsyms]");
    case Mode::kGuestUser:
      return resolver_.unknown_in("[guest.user]");
    case Mode::kUser:
      break;
  }
  const MappedImage* mapped = process.space.find(address);
  if (mapped == nullptr) {
    process.has_unmapped_frames = true;
    return resolver_.unknown_in("[unknown]");
  }
  return resolver_.resolve(*mapped, address);
}

FrameId StackBuilder::frame_of_address(Address address, std::string_view module) {
  const std::string_view name = module.empty() || module == "[unknown]" ? "unknown" : file_name_of(module);
  Frame frame = frame_of_symbol(profile_, {}, module);
  frame.function = profile_.strings.intern(fmt::format("[{} <{:x}>]", to_valid_utf8(name), address.value));
  return profile_.frames.intern(frame);
}

FrameId StackBuilder::frame_of(ResolvedSymbolId id, Mode mode) {
  if (frames_of_symbols_.size() <= id.index()) frames_of_symbols_.resize(id.index() + 1);
  auto& known = frames_of_symbols_[id.index()];
  if (known) return *known;
  const ResolvedSymbol& symbol = resolver_[id];
  const std::string valid = is_valid_utf8(symbol.name) ? std::string() : to_valid_utf8(symbol.name);
  Frame frame = frame_of_symbol(profile_, valid.empty() ? symbol.name : valid, symbol.module);
  if (!symbol.name.empty() && mode == Mode::kKernel) frame.kind = FrameKind::kKernel;
  if (symbol.source && frame.file == StringId{} && !symbol.name.empty()) {
    frame.file = profile_.strings.intern(to_valid_utf8(symbol.source->file));
    frame.line = symbol.source->line;
    frame.column = symbol.source->column;
  }
  known = profile_.frames.intern(frame);
  return *known;
}

}  // namespace nodescope::perf
